#include "ops/attention.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/attention/attention_tiles.h"
#include "ops/elementwise.h"
#include "ops/gemm.h"
#include "ops/softmax.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::random_tensor;
using test_support::same_bits;
using testing::HasSubstr;

// Packed queries, keys and values of sentences with the given lengths.
struct Batch {
  Tensor query, key, value;
  AttentionBounds bounds;
};

Tensor offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> ends{0};
  for (const int64_t length : lengths) {
    ends.push_back(ends.back() + static_cast<int32_t>(length));
  }
  return Tensor::from(ends, {static_cast<int64_t>(ends.size())});
}

Batch make_batch(const std::vector<int64_t>& queries, const std::vector<int64_t>& keys, int64_t width,
                 int64_t value_width) {
  Batch batch;
  batch.bounds = {offsets_of(queries), offsets_of(keys), {}};
  const int64_t n_queries = batch.bounds.query_offsets.to_vector<int32_t>().back();
  const int64_t n_keys = batch.bounds.key_offsets.to_vector<int32_t>().back();
  batch.query = random_tensor({n_queries, width}, DType::kFloat64, 1);
  batch.key = random_tensor({n_keys, width}, DType::kFloat64, 2);
  batch.value = random_tensor({n_keys, value_width}, DType::kFloat64, 3);
  return batch;
}

Tensor mask_of(int64_t n_keys, int64_t hide_every) {
  Tensor mask = Tensor::zeros({n_keys}, DType::kBool);
  for (int64_t s = 0; s < n_keys; ++s) {
    mask.data<bool>()[s] = s % hide_every != 0;
  }
  return mask;
}

test_support::Function function_of(const AttentionBounds& bounds, const AttentionOptions& options) {
  return [=](const std::vector<Variable>& in) { return attention(in[0], in[1], in[2], bounds, options); };
}

Tensor value_of(const Batch& batch, const AttentionOptions& options, DType dtype) {
  return attention(Variable(batch.query.to(dtype)), Variable(batch.key.to(dtype)), Variable(batch.value.to(dtype)),
                   batch.bounds, options)
      .value();
}

// float32 forward and backward against float64, the inputs as column views
void compare_with_reference(const Batch& batch, const AttentionOptions& options, const std::string& label) {
  EXPECT_TRUE(close(value_of(batch, options, DType::kFloat32), value_of(batch, options, DType::kFloat64), 2e-6))
      << label;
  const Tensor weights = random_tensor({batch.query.dim(0), batch.value.dim(1)}, DType::kFloat64, 4);
  const auto function = function_of(batch.bounds, options);
  const auto view = [](const Tensor& tensor) { return test_support::strided_copy(tensor.to(DType::kFloat32)); };
  const auto exact = test_support::gradients(function, {batch.query, batch.key, batch.value}, weights);
  const auto fast = test_support::gradients(function, {view(batch.query), view(batch.key), view(batch.value)},
                                            weights.to(DType::kFloat32));
  const char* names[] = {"query", "key", "value"};
  for (size_t input = 0; input < 3; ++input) {
    EXPECT_TRUE(close(fast[input], exact[input], 5e-6)) << label << ", gradient of " << names[input];
  }
}

TEST(Attention, BackwardMatchesCentralDifferences) {
  const Batch batch = make_batch({3, 1, 2}, {2, 4, 1}, 4, 6);
  AttentionOptions options{.n_heads = 2};
  test_support::check_gradients(function_of(batch.bounds, options), {batch.query, batch.key, batch.value});
  options.dropout = {.probability = 0.4F, .seed = 5, .step = 1, .site = 9, .first_row = 3};
  AttentionBounds masked = batch.bounds;
  masked.key_mask = mask_of(7, 3);
  test_support::check_gradients(function_of(masked, options), {batch.query, batch.key, batch.value});
  const Batch square = make_batch({3, 4}, {3, 4}, 4, 2);
  test_support::check_gradients(function_of(square.bounds, {.n_heads = 2, .causal = true}),
                                {square.query, square.key, square.value});
}

TEST(Attention, KernelMatchesReference) {
  for (const int64_t d_head : {1, 7, 16, 32, 50, 64}) {
    const Batch batch = make_batch({7, 1, 33, 0, 60}, {31, 5, 64, 3, 17}, 2 * d_head, 2 * (d_head + 3));
    compare_with_reference(batch, {.n_heads = 2}, "Dh=" + std::to_string(d_head));
    const Batch square = make_batch({31, 1, 50, 100}, {31, 1, 50, 100}, 2 * d_head, 2 * d_head);
    compare_with_reference(square, {.n_heads = 2, .causal = true}, "causal, Dh=" + std::to_string(d_head));
  }
}

TEST(Attention, KernelMatchesReferenceForLongSentences) {
  compare_with_reference(make_batch({300, 50}, {515, 1}, 64, 64), {.n_heads = 2}, "300 x 515");
  compare_with_reference(make_batch({333}, {333}, 32, 32), {.n_heads = 1, .causal = true}, "causal 333");
}

TEST(Attention, KernelMatchesReferenceWithMaskAndDropout) {
  Batch batch = make_batch({9, 20, 60}, {9, 20, 60}, 64, 64);
  batch.bounds.key_mask = mask_of(89, 4);
  AttentionOptions options{.n_heads = 4, .dropout = {.probability = 0.3F, .seed = 8, .step = 2, .first_row = 100}};
  compare_with_reference(batch, options, "mask and dropout");
  options.causal = true;
  compare_with_reference(batch, options, "mask, dropout, causal");
}

bool is_in_tiles(const Batch& batch, const AttentionOptions& options) {
  const auto to_bfloat16 = [](const Tensor& x) { return x.to(DType::kBFloat16); };
  return kernels::attends_in_tiles(
      {to_bfloat16(batch.query), to_bfloat16(batch.key), to_bfloat16(batch.value), batch.bounds, options});
}

// |seen - expected| / |expected| of all elements together
double relative_error(const Tensor& seen, const Tensor& expected) {
  const auto numbers = [](const Tensor& of) { return of.to(DType::kFloat64).to_vector<double>(); };
  const auto left = numbers(seen), right = numbers(expected);
  double difference = 0, norm = 0;
  for (size_t index = 0; index < left.size(); ++index) {
    difference += (left[index] - right[index]) * (left[index] - right[index]);
    norm += right[index] * right[index];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

// Everything is computed in float32 on widened rows; context and gradients are rounded once. In tiles the weights and
// the gradients of scores are rounded as well, each by at most 2^-9 of itself. The inputs as column views.
void expect_float32_of_widened(const Batch& batch, const AttentionOptions& options, const std::string& label) {
  const auto to_bfloat16 = [](const Tensor& x) { return test_support::strided_copy(x.to(DType::kBFloat16)); };
  const std::vector<Tensor> inputs = {to_bfloat16(batch.query), to_bfloat16(batch.key), to_bfloat16(batch.value)};
  std::vector<Tensor> wide;
  for (const Tensor& input : inputs) {
    wide.push_back(input.to(DType::kFloat32));
  }
  const Tensor grad_context = random_tensor({batch.query.dim(0), batch.value.dim(1)}, DType::kBFloat16, 4);
  const auto function = function_of(batch.bounds, options);
  const auto value = [&](const std::vector<Tensor>& of) {
    return function({Variable(of[0]), Variable(of[1]), Variable(of[2])}).value();
  };
  const bool in_tiles = is_in_tiles(batch, options);
  const auto expect_rounded = [&](const Tensor& seen, const Tensor& exact, const std::string& what) {
    if (in_tiles) {
      EXPECT_LT(relative_error(seen, exact), 1.0 / 256) << what << " in tiles, " << label;
    } else {
      EXPECT_TRUE(same_bits(seen, exact.to(DType::kBFloat16))) << what << ", " << label;
    }
  };
  expect_rounded(value(inputs), value(wide), "context");
  const auto seen = test_support::gradients(function, inputs, grad_context);
  const auto expected = test_support::gradients(function, wide, grad_context.to(DType::kFloat32));
  const char* names[] = {"query", "key", "value"};
  for (size_t input = 0; input < 3; ++input) {
    expect_rounded(seen[input], expected[input], std::string("gradient of ") + names[input]);
  }
}

TEST(Attention, BFloat16IsTheFloat32ResultRounded) {
  const AttentionOptions dropping{.n_heads = 2, .dropout = {.probability = 0.3F, .seed = 8, .first_row = 100}};
  for (const int64_t d_head : {1, 7, 16, 31, 64}) {
    const std::string label = "Dh=" + std::to_string(d_head);
    Batch batch = make_batch({7, 1, 33, 0, 60}, {31, 5, 64, 3, 17}, 2 * d_head, 2 * (d_head + 3));
    expect_float32_of_widened(batch, {.n_heads = 2}, label);
    expect_float32_of_widened(batch, dropping, "dropout, " + label);
    batch.bounds.key_mask = mask_of(120, 4);
    expect_float32_of_widened(batch, {.n_heads = 2}, "mask, " + label);
    const Batch square = make_batch({31, 1, 50, 100}, {31, 1, 50, 100}, 2 * d_head, 2 * d_head);
    expect_float32_of_widened(square, {.n_heads = 2, .causal = true}, "causal, " + label);
  }
}

// Heads of whole tiles, where there are tile registers.
TEST(Attention, BFloat16InTilesIsNearTheFloat32Result) {
  const AttentionOptions dropping{
      .n_heads = 2, .causal = true, .dropout = {.probability = 0.3F, .seed = 8, .first_row = 100}};
  for (const int64_t d_head : {32, 64}) {
    const std::string label = "Dh=" + std::to_string(d_head);
    Batch batch = make_batch({7, 1, 33, 0, 60, 3}, {31, 5, 64, 3, 17, 0}, 2 * d_head, 64);
    EXPECT_EQ(is_in_tiles(batch, {.n_heads = 2}),
              kernels::has_bfloat16_tiles(kernels::product_kernel(Precision::kBFloat16)));
    expect_float32_of_widened(batch, {.n_heads = 2}, label);
    batch.bounds.key_mask = mask_of(120, 4);
    expect_float32_of_widened(batch, {.n_heads = 2}, "mask, " + label);
    const Batch square = make_batch({31, 1, 50, 150}, {31, 1, 50, 150}, 2 * d_head, 2 * d_head);
    expect_float32_of_widened(square, {.n_heads = 2, .causal = true}, "causal, " + label);
    expect_float32_of_widened(square, dropping, "causal, dropout, " + label);
  }
}

TEST(Attention, LargeScoresStayFinite) {
  Batch batch = make_batch({5}, {9}, 16, 16);
  batch.query = multiply(Variable(batch.query), Variable(Tensor::full({1}, 300.0, DType::kFloat64))).value();
  EXPECT_TRUE(close(value_of(batch, {}, DType::kFloat32), value_of(batch, {}, DType::kFloat64), 1e-4));
}

// Scores beyond 1e9, where neighbouring floats are far apart: each row has one weight of 1.
TEST(Attention, HugeScoresStayFinite) {
  Batch batch = make_batch({5}, {9}, 16, 16);
  batch.query = multiply(Variable(batch.query), Variable(Tensor::full({1}, 1e12, DType::kFloat64))).value();
  EXPECT_TRUE(close(value_of(batch, {}, DType::kFloat32), value_of(batch, {}, DType::kFloat64), 1e-6));
}

// softmax(Q K^T / sqrt(Dh)) V out of gemm and softmax, one head
TEST(Attention, EqualsItsComposition) {
  const Batch batch = make_batch({6}, {8}, 5, 3);
  Tensor scores = Tensor::empty({6, 8}, DType::kFloat64), context = Tensor::empty({6, 3}, DType::kFloat64);
  gemm(batch.query, Transpose::kNo, batch.key, Transpose::kYes, scores);
  const Tensor weights = softmax(scale(Variable(scores), 1 / std::sqrt(5.0))).value();
  gemm(weights, Transpose::kNo, batch.value, Transpose::kNo, context);
  EXPECT_TRUE(close(value_of(batch, {}, DType::kFloat64), context, 1e-13));
  const Tensor drawn =
      attention_weights(batch.query.to(DType::kFloat32), batch.key.to(DType::kFloat32), batch.bounds, {});
  EXPECT_TRUE(close(drawn.reshape({6, 8}), weights, 1e-6));
}

TEST(Attention, RowWithNothingToAttendToIsZeroWithZeroGradient) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    Batch batch = make_batch({2, 3, 2}, {0, 3, 2}, 8, 8);
    batch.bounds.key_mask = Tensor::from(std::vector<int32_t>{0, 0, 0, 1, 1}, {5}).to(DType::kBool);
    const Tensor context = value_of(batch, {.n_heads = 2}, dtype);
    EXPECT_TRUE(close(context.rows(0, 5), Tensor::zeros({5, 8}), 0.0));
    const auto grads = test_support::gradients(function_of(batch.bounds, {.n_heads = 2}),
                                               {batch.query.to(dtype), batch.key.to(dtype), batch.value.to(dtype)},
                                               Tensor::full({7, 8}, 1.0).to(dtype));
    EXPECT_TRUE(close(grads[0].rows(0, 5), Tensor::zeros({5, 8}), 0.0)) << "queries, " << tensor::dtype_name(dtype);
    EXPECT_TRUE(close(grads[1].rows(0, 3), Tensor::zeros({3, 8}), 0.0)) << "keys, " << tensor::dtype_name(dtype);
    EXPECT_TRUE(close(grads[2].rows(0, 3), Tensor::zeros({3, 8}), 0.0)) << "values, " << tensor::dtype_name(dtype);
  }
}

TEST(Attention, NotANumberIsNotHidden) {
  Batch batch = make_batch({2}, {3}, 4, 4);
  batch.query.data<double>()[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(value_of(batch, {}, DType::kFloat32).data<float>()[0]));
}

void expect_same_alone(DType dtype) {
  const AttentionOptions options{.n_heads = 2};
  const Batch batch = make_batch({5, 61, 17}, {9, 40, 64}, 64, 64);
  const Tensor together = value_of(batch, options, dtype);
  int64_t query = 0, key = 0;
  for (const auto& [t, s] : std::vector<std::pair<int64_t, int64_t>>{{5, 9}, {61, 40}, {17, 64}}) {
    const Batch alone{batch.query.rows(query, query + t),
                      batch.key.rows(key, key + s),
                      batch.value.rows(key, key + s),
                      {offsets_of({t}), offsets_of({s}), {}}};
    EXPECT_TRUE(same_bits(value_of(alone, options, dtype), together.rows(query, query + t).clone()))
        << t << " queries, " << s << " keys, " << tensor::dtype_name(dtype);
    query += t;
    key += s;
  }
}

TEST(Attention, SentenceAloneHasTheBitsItHasInABatch) {
  expect_same_alone(DType::kFloat32);
  expect_same_alone(DType::kBFloat16);
}

void expect_same_without_later_keys(DType dtype) {
  const AttentionOptions options{.n_heads = 2, .causal = true};
  const Batch whole = make_batch({70}, {70}, 64, 64);
  const Tensor context = value_of(whole, options, dtype);
  for (const int64_t length : {1, 15, 16, 17, 48, 49, 69}) {
    const Batch prefix{whole.query.rows(0, length),
                       whole.key.rows(0, length),
                       whole.value.rows(0, length),
                       {offsets_of({length}), offsets_of({length}), {}}};
    EXPECT_TRUE(same_bits(value_of(prefix, options, dtype), context.rows(0, length).clone()))
        << "length " << length << ", " << tensor::dtype_name(dtype);
  }
}

TEST(Attention, LaterKeysChangeNothingEarlier) {
  expect_same_without_later_keys(DType::kFloat32);
  expect_same_without_later_keys(DType::kBFloat16);
}

TEST(Attention, DropoutMaskDoesNotDependOnHowRowsAreSplit) {
  const Batch batch = make_batch({4, 6}, {4, 6}, 8, 8);
  const Dropout dropout{.probability = 0.5F, .seed = 3, .step = 7, .site = 1, .first_row = 20};
  const Tensor together = value_of(batch, {.n_heads = 2, .dropout = dropout}, DType::kFloat32);
  Dropout later = dropout;
  later.first_row += 4;
  const Batch second{
      batch.query.rows(4, 10), batch.key.rows(4, 10), batch.value.rows(4, 10), {offsets_of({6}), offsets_of({6}), {}}};
  EXPECT_TRUE(
      same_bits(value_of(second, {.n_heads = 2, .dropout = later}, DType::kFloat32), together.rows(4, 10).clone()));
}

TEST(AttentionWeights, RowsSumToOneAndObeyTheCausalMask) {
  const Batch batch = make_batch({9}, {9}, 12, 12);
  const Tensor weights = attention_weights(batch.query.to(DType::kFloat32), batch.key.to(DType::kFloat32), batch.bounds,
                                           {.n_heads = 3, .causal = true});
  ASSERT_EQ(weights.shape(), (tensor::Shape{3, 9, 9}));
  const auto values = weights.to_vector<float>();
  for (size_t row = 0; row < 27; ++row) {
    double sum = 0;
    for (size_t s = 0; s < 9; ++s) {
      sum += values[row * 9 + s];
      EXPECT_TRUE(s <= row % 9 || values[row * 9 + s] == 0.0F) << "row " << row << " sees key " << s;
    }
    EXPECT_NEAR(sum, 1.0, 1e-6) << "row " << row;
  }
  EXPECT_TRUE(
      close(weights, attention_weights(batch.query, batch.key, batch.bounds, {.n_heads = 3, .causal = true}), 1e-6));
}

TEST(AttentionWeights, OfBFloat16AreThoseOfTheSameNumbersInFloat32) {
  const Batch batch = make_batch({9}, {17}, 12, 12);
  const Tensor query = batch.query.to(DType::kBFloat16), key = batch.key.to(DType::kBFloat16);
  const Tensor expected =
      attention_weights(query.to(DType::kFloat32), key.to(DType::kFloat32), batch.bounds, {.n_heads = 3});
  EXPECT_TRUE(same_bits(attention_weights(query, key, batch.bounds, {.n_heads = 3}), expected));
}

TEST(Attention, TakesOneTypeForAll) {
  const Batch batch = make_batch({2, 3}, {2, 4}, 8, 8);
  const auto error_for = [&](DType query, DType key, DType value) {
    return test_support::error_of([&] {
      attention(Variable(batch.query.to(query)), Variable(batch.key.to(key)), Variable(batch.value.to(value)),
                batch.bounds, {});
    });
  };
  constexpr DType kHalf = DType::kBFloat16, kWhole = DType::kFloat32;
  EXPECT_EQ(error_for(kHalf, kWhole, kWhole), "attention: key is float32, must be bfloat16");
  EXPECT_EQ(error_for(kWhole, kHalf, kWhole), "attention: key is bfloat16, must be float32");
  EXPECT_EQ(error_for(kHalf, kHalf, kWhole), "attention: value is float32, must be bfloat16");
  EXPECT_EQ(error_for(kHalf, kHalf, kHalf), "no error");
}

std::string error_of(const Batch& batch, const AttentionOptions& options) {
  return test_support::error_of([&] { value_of(batch, options, DType::kFloat32); });
}

TEST(Attention, NamesWhatDoesNotFit) {
  Batch batch = make_batch({2, 3}, {2, 4}, 8, 8);
  EXPECT_THAT(error_of(batch, {.n_heads = 3}), HasSubstr("query has width 8, which 3 heads do not divide"));
  EXPECT_EQ(error_of(batch, {.n_heads = 2, .causal = true}),
            "attention: causal, but sentence 1 has 3 queries and 4 keys; must be equal");
  EXPECT_THAT(error_of(batch, {.dropout = {.probability = 1.0F}}), HasSubstr("must be in [0, 1)"));
  batch.bounds.key_mask = Tensor::zeros({5}, DType::kBool);
  EXPECT_THAT(error_of(batch, {}), HasSubstr("key_mask is [5], must be [6]"));
  batch.bounds.key_mask = {};
  batch.bounds.key_offsets = offsets_of({2, 3});
  EXPECT_THAT(error_of(batch, {}), HasSubstr("key_offsets runs from 0 to 5, must run from 0 to the number of rows, 6"));
  batch.bounds.key_offsets = offsets_of({7, -1});
  EXPECT_THAT(error_of(batch, {}), HasSubstr("key_offsets[2] is 6 after 7; offsets must not fall"));
  batch.bounds.key_offsets = offsets_of({6});
  EXPECT_THAT(error_of(batch, {}), HasSubstr("offsets of 2 sentences of queries and 1 of keys"));
  batch.key = Tensor::zeros({6, 4}, DType::kFloat64);
  EXPECT_EQ(error_of(batch, {}), "attention: query has width 8, key has width 4; both must be n_heads * d_head");
}

}  // namespace
}  // namespace dragoman::ops
