// Attention with heads of query that share heads of key and value, and with a window.
#include <gmock/gmock.h>

#include "base/error.h"
#include "kernels/cpu/attention/attention_tiles.h"
#include "ops/attention.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::Function;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;

constexpr Dropout kSome{.probability = 0.3F, .seed = 8, .step = 2, .first_row = 100};

Tensor offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> ends{0};
  for (const int64_t length : lengths) {
    ends.push_back(ends.back() + static_cast<int32_t>(length));
  }
  return Tensor::from(ends, {std::ssize(ends)});
}

// Query, key and value of sentences with as many keys as queries.
struct Batch {
  Batch(const std::vector<int64_t>& lengths, const AttentionOptions& options, int64_t d_head, int64_t d_value)
      : bounds{offsets_of(lengths), offsets_of(lengths), {}} {
    const int64_t rows = bounds.query_offsets.to_vector<int32_t>().back(), heads = kernels::n_kv_heads(options);
    inputs = {random_tensor({rows, options.n_heads * d_head}, DType::kFloat64, 1),
              random_tensor({rows, heads * d_head}, DType::kFloat64, 2),
              random_tensor({rows, heads * d_value}, DType::kFloat64, 3)};
  }

  AttentionBounds bounds;
  std::vector<Tensor> inputs;
};

std::vector<Tensor> in_type(const std::vector<Tensor>& tensors, DType dtype) {
  std::vector<Tensor> converted;
  for (const Tensor& tensor : tensors) {
    converted.push_back(strided_copy(tensor.to(dtype)));
  }
  return converted;
}

Function function_of(const AttentionBounds& bounds, const AttentionOptions& options) {
  return [=](const std::vector<Variable>& in) { return attention(in[0], in[1], in[2], bounds, options); };
}

Tensor value_of(const Function& function, const std::vector<Tensor>& inputs) {
  return function(std::vector<Variable>(inputs.begin(), inputs.end())).value();
}

// Columns of each of `heads` heads, `times` times.
Tensor repeat_heads(const Tensor& x, int64_t heads, int64_t times) {
  const int64_t width = x.dim(1) / heads;
  Tensor repeated = Tensor::empty({x.dim(0), x.dim(1) * times}, x.dtype());
  for (int64_t head = 0; head < heads * times; ++head) {
    for (int64_t row = 0; row < x.dim(0); ++row) {
      const Tensor from = x.rows(row, row + 1).columns(head / times * width, (head / times + 1) * width);
      repeated.rows(row, row + 1).columns(head * width, (head + 1) * width).copy_from(from);
    }
  }
  return repeated;
}

std::vector<AttentionOptions> all_options() {
  return {{.n_heads = 4, .n_kv_heads = 2},
          {.n_heads = 6, .causal = true, .n_kv_heads = 2},
          {.n_heads = 4, .causal = true, .dropout = kSome, .n_kv_heads = 1},
          {.n_heads = 2, .causal = true, .window = 1},
          {.n_heads = 2, .causal = true, .window = 5},
          {.n_heads = 2, .causal = true, .dropout = kSome, .window = 17},
          {.n_heads = 4, .causal = true, .dropout = kSome, .n_kv_heads = 2, .window = 40}};
}

std::string label_of(const AttentionOptions& options) {
  return std::to_string(options.n_heads) + " heads, " + std::to_string(options.n_kv_heads) + " of keys, window " +
         std::to_string(options.window);
}

TEST(SharedHeads, GradientsAgreeWithFiniteDifferences) {
  for (AttentionOptions options : all_options()) {
    SCOPED_TRACE(label_of(options));
    options.window = std::min<int64_t>(options.window, 3);
    Batch batch({4, 1, 6}, options, 3, 2);
    test_support::check_gradients(function_of(batch.bounds, options), batch.inputs);
  }
}

TEST(SharedHeads, AreThoseOfRepeatedKeysAndValues) {
  const AttentionOptions options{.n_heads = 6, .causal = true, .dropout = kSome, .n_kv_heads = 2};
  AttentionOptions plain = options;
  plain.n_kv_heads = 0;
  for (const DType dtype : {DType::kFloat64, DType::kFloat32}) {
    const Batch batch({7, 70, 1}, options, 16, 9);
    const std::vector<Tensor> inputs = in_type(batch.inputs, dtype);
    const std::vector<Tensor> repeated = {inputs[0], repeat_heads(inputs[1], 2, 3), repeat_heads(inputs[2], 2, 3)};
    const Tensor context = value_of(function_of(batch.bounds, options), inputs);
    EXPECT_TRUE(close(context, value_of(function_of(batch.bounds, plain), repeated), 0));
    const Tensor weights = random_tensor(context.shape(), dtype, 4);
    const auto seen = gradients(function_of(batch.bounds, options), inputs, weights);
    const auto alone = gradients(function_of(batch.bounds, plain), repeated, weights);
    EXPECT_TRUE(close(seen[0], alone[0], 0)) << "gradient of query";
    for (size_t which = 1; which < 3; ++which) {  // the sum over the heads that share
      const int64_t width = seen[which].dim(1) / 2;
      std::vector<double> sums(static_cast<size_t>(seen[which].size()));
      const auto parts = alone[which].to(DType::kFloat64).to_vector<double>();
      for (size_t part = 0; part < parts.size(); ++part) {
        const auto column = static_cast<int64_t>(part) % (6 * width), row = static_cast<int64_t>(part) / (6 * width);
        sums[static_cast<size_t>(row * 2 * width + column / (3 * width) * width + column % width)] += parts[part];
      }
      EXPECT_TRUE(close(seen[which], Tensor::from(sums, seen[which].shape()), dtype == DType::kFloat64 ? 1e-13 : 2e-6));
    }
  }
}

// Each query alone with the keys that it sees.
TEST(AttentionWindow, IsAttentionToTheLastKeys) {
  const AttentionOptions options{.n_heads = 4, .causal = true, .n_kv_heads = 2, .window = 6};
  const Batch batch({50}, options, 8, 8);
  const Tensor context = value_of(function_of(batch.bounds, options), batch.inputs);
  for (int64_t t = 0; t < 50; ++t) {
    const int64_t begin = std::max<int64_t>(t - 5, 0);
    const std::vector<Tensor> seen = {batch.inputs[0].rows(t, t + 1), batch.inputs[1].rows(begin, t + 1),
                                      batch.inputs[2].rows(begin, t + 1)};
    const AttentionBounds bounds{offsets_of({1}), offsets_of({t + 1 - begin}), {}};
    const Tensor alone = value_of(function_of(bounds, {.n_heads = 4, .n_kv_heads = 2}), seen);
    EXPECT_TRUE(close(context.rows(t, t + 1), alone, 1e-13)) << "query " << t;
  }
}

TEST(AttentionWindow, OfTheWholeSentenceChangesNoBit) {
  const AttentionOptions whole{.n_heads = 2, .causal = true};
  AttentionOptions wide = whole;
  wide.window = 200;
  const Batch batch({100, 200}, whole, 16, 16);
  const auto inputs = in_type(batch.inputs, DType::kFloat32);
  const Tensor weights = random_tensor({300, 32}, DType::kFloat32, 4);
  EXPECT_TRUE(
      same_bits(value_of(function_of(batch.bounds, wide), inputs), value_of(function_of(batch.bounds, whole), inputs)));
  const auto seen = gradients(function_of(batch.bounds, wide), inputs, weights);
  const auto expected = gradients(function_of(batch.bounds, whole), inputs, weights);
  for (size_t which = 0; which < 3; ++which) {
    EXPECT_TRUE(same_bits(seen[which], expected[which])) << "gradient " << which;
  }
}

// float32 against float64, with and without a mask of keys
TEST(SharedHeads, KernelMatchesReference) {
  for (const AttentionOptions& options : all_options()) {
    for (const int64_t d_head : {5, 16, 32}) {
      SCOPED_TRACE(label_of(options) + ", heads of " + std::to_string(d_head));
      Batch batch({7, 1, 65, 0, 150}, options, d_head, d_head + 3);
      for (const bool masked : {false, true}) {
        if (masked) {
          batch.bounds.key_mask = Tensor::full({223}, 1.0, DType::kBool);
          for (int64_t s = 0; s < 223; s += 4) {
            batch.bounds.key_mask.data<bool>()[s] = false;
          }
        }
        const auto function = function_of(batch.bounds, options);
        const auto narrow = in_type(batch.inputs, DType::kFloat32);
        const Tensor exact = value_of(function, batch.inputs);
        EXPECT_TRUE(close(value_of(function, narrow), exact, 5e-6));
        const Tensor weights = random_tensor(exact.shape(), DType::kFloat64, 4);
        const auto seen = gradients(function, narrow, weights.to(DType::kFloat32));
        const auto expected = gradients(function, batch.inputs, weights);
        for (size_t which = 0; which < 3; ++which) {
          EXPECT_TRUE(close(seen[which], expected[which], 2e-5)) << "gradient " << which;
        }
      }
    }
  }
}

// In tiles, weights and gradients of scores are rounded as well.
double bfloat16_tolerance(const std::vector<Tensor>& inputs, const AttentionBounds& bounds,
                          const AttentionOptions& options) {
  return kernels::attends_in_tiles({inputs[0], inputs[1], inputs[2], bounds, options}) ? 0.06 : 0.005;
}

TEST(SharedHeads, BFloat16IsNearTheFloat32Result) {
  for (const AttentionOptions& options : all_options()) {
    for (const int64_t d_head : {5, 32}) {
      SCOPED_TRACE(label_of(options) + ", heads of " + std::to_string(d_head));
      const Batch batch({7, 1, 65, 0, 150}, options, d_head, d_head);
      const auto function = function_of(batch.bounds, options);
      const auto inputs = in_type(batch.inputs, DType::kBFloat16), wide = in_type(inputs, DType::kFloat32);
      const double tolerance = bfloat16_tolerance(inputs, batch.bounds, options);
      const Tensor value = value_of(function, wide), weights = random_tensor(value.shape(), DType::kBFloat16, 4);
      EXPECT_TRUE(close(value_of(function, inputs), value, tolerance));
      const auto seen = gradients(function, inputs, weights);
      const auto expected = gradients(function, wide, weights.to(DType::kFloat32));
      for (size_t which = 0; which < 3; ++which) {
        EXPECT_TRUE(close(seen[which], expected[which], tolerance)) << "gradient " << which;
      }
    }
  }
}

TEST(SharedHeads, WeightsAreThoseOfRepeatedKeys) {
  const AttentionOptions options{.n_heads = 4, .causal = true, .n_kv_heads = 2, .window = 3};
  AttentionOptions plain = options;
  plain.n_kv_heads = 0;
  const Batch batch({20}, options, 8, 8);
  const auto inputs = in_type(batch.inputs, DType::kFloat32);
  const Tensor weights = attention_weights(inputs[0], inputs[1], batch.bounds, options);
  EXPECT_TRUE(same_bits(weights, attention_weights(inputs[0], repeat_heads(inputs[1], 2, 2), batch.bounds, plain)));
  EXPECT_TRUE(close(weights, attention_weights(batch.inputs[0], batch.inputs[1], batch.bounds, options), 1e-6));
  const std::vector<float> values = weights.to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t t = i / 20 % 20, s = i % 20;
    EXPECT_EQ(values[i] > 0, s <= t && s + 3 > t) << "query " << t << ", key " << s;
  }
}

TEST(SharedHeads, ErrorsNameTheRule) {
  const AttentionBounds bounds{offsets_of({2}), offsets_of({2}), {}};
  const Variable x(Tensor::zeros({2, 8}));
  const auto expect_error = [&](const AttentionOptions& options, const char* message) {
    EXPECT_THAT([&] { attention(x, x, x, bounds, options); }, testing::ThrowsMessage<base::Error>(message));
  };
  expect_error({.n_heads = 4, .n_kv_heads = 3}, "attention: n_kv_heads is 3, must divide n_heads, 4");
  expect_error({.n_heads = 4, .n_kv_heads = 2}, "attention: key has width 8, must be n_kv_heads (2) * d_head (2)");
  expect_error({.n_heads = 4, .causal = true, .window = -1}, "attention: window is -1, must be >= 0");
  expect_error({.n_heads = 4, .window = 2}, "attention: window is 2 without causal; a window is of earlier keys");
}

}  // namespace
}  // namespace dragoman::ops
