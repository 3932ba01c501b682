#include "kernels/cpu/attention/attention_step.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "ops/attention.h"
#include "support/error_of.h"
#include "support/int8_heads.h"
#include "support/tensors.h"

namespace dragoman::kernels {
namespace {

using autograd::Variable;
using tensor::DType;
using test_support::close;
using test_support::random_tensor;
using test_support::same_bits;

Tensor matrix(int64_t rows, int64_t columns, uint64_t seed) {
  return random_tensor({rows, columns}, DType::kFloat32, seed);
}

// Keys and values of one sequence in one cache of rows [keys | values].
struct Cache {
  Cache(int64_t n_positions, int64_t key_width, int64_t value_width)
      : rows(matrix(n_positions, key_width + value_width, 2)), keys(key_width) {}

  StepKeys prefix(int64_t length) const {
    return {rows.data<float>(), rows.data<float>() + keys, nullptr, rows.dim(1), length};
  }

  Tensor rows;
  int64_t keys;
};

// Rows [keys | values] of `numbers` as a cache of that type holds them.
Tensor cached(const Tensor& numbers, int n_heads, DType dtype) {
  const int64_t width = numbers.dim(1) / 2, half = cached_row_elements(width, n_heads, dtype);
  Tensor cache = Tensor::empty({numbers.dim(0), 2 * half}, dtype);
  std::vector<float> scales(static_cast<size_t>(n_heads));
  for (int64_t part = 0; part < 2 * numbers.dim(0); ++part) {  // keys and values alternate
    const float* from = numbers.data<float>() + part * width;
    switch (dtype) {
      case DType::kInt8:
        quantise_heads(from, n_heads, width / n_heads, cache.data<int8_t>() + part * half, scales.data());
        std::memcpy(cache.data<int8_t>() + part * half + width, scales.data(), scales.size() * sizeof(float));
        break;
      case DType::kBFloat16:
        round_row(from, width, cache.data<tensor::BFloat16>() + part * half);
        break;
      default:
        std::copy_n(from, width, cache.data<float>() + part * half);
    }
  }
  return cache;
}

// Keys of `length` positions in such a cache.
StepKeys keys_in(const Tensor& cache, const int32_t* row_of_position, int64_t length) {
  const int64_t half = cache.dim(1) / 2;
  const auto* keys = static_cast<const char*>(cache.raw_data());
  const auto* values = keys + half * static_cast<int64_t>(tensor::dtype_bytes(cache.dtype()));
  return {keys, values, row_of_position, cache.dim(1), length, cache.dtype()};
}

TEST(AttentionStep, GrowingPrefixesGiveTheRowsOfCausalAttention) {
  constexpr int64_t kLength = 70;
  for (const auto& [n_heads, d_head, d_value] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {2, 7, 3}, {2, 16, 33}, {4, 32, 32}, {2, 64, 64}, {1, 50, 80}}) {
    const Cache cache(kLength, n_heads * d_head, n_heads * d_value);
    const Tensor query = matrix(kLength, n_heads * d_head, 1);
    const Tensor offsets = Tensor::from(std::vector<int32_t>{0, kLength}, {2});
    const Tensor expected = ops::attention(Variable(query), Variable(cache.rows.columns(0, cache.keys)),
                                           Variable(cache.rows.columns(cache.keys, cache.rows.dim(1))),
                                           {offsets, offsets, {}}, {static_cast<int>(n_heads), true, {}})
                                .value();
    std::vector<StepKeys> steps;
    for (int64_t t = 0; t < kLength; ++t) {
      steps.push_back(cache.prefix(t + 1));
    }
    Tensor context = Tensor::empty({kLength, n_heads * d_value});
    attention_step(query, steps, static_cast<int>(n_heads), context, nullptr);
    EXPECT_TRUE(close(context, expected, 1e-5)) << n_heads << " heads of " << d_head << " and " << d_value;
  }
}

// Heads of query that share heads of key and value read what a cache with repeated heads would hold.
TEST(AttentionStep, SharedHeadsGiveTheBitsOfRepeatedHeads) {
  constexpr int kHeads = 6, kKeyHeads = 2;
  const std::vector<std::vector<int32_t>> tables{{0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 7, 8}, {9, 8, 7, 6, 5}};
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kInt8}) {
    for (const int64_t d_head : {5, 16, 33, 64}) {
      const Tensor numbers = matrix(10, 2 * kKeyHeads * d_head, 7);
      Tensor repeated = Tensor::empty({10, 2 * kHeads * d_head});
      for (int64_t head = 0; head < 2 * kHeads; ++head) {  // of keys, then of values
        const Tensor from = numbers.columns(head / 3 * d_head, (head / 3 + 1) * d_head);
        Tensor to = repeated.columns(head * d_head, (head + 1) * d_head);
        for (int64_t row = 0; row < 10; ++row) {
          to.rows(row, row + 1).copy_from(from.rows(row, row + 1));
        }
      }
      const Tensor shared_cache = cached(numbers, kKeyHeads, dtype), whole_cache = cached(repeated, kHeads, dtype);
      std::vector<StepKeys> shared, whole;
      for (const std::vector<int32_t>& table : tables) {
        shared.push_back(keys_in(shared_cache, table.data(), std::ssize(table)));
        shared.back().n_kv_heads = kKeyHeads;
        whole.push_back(keys_in(whole_cache, table.data(), std::ssize(table)));
      }
      const Tensor query = matrix(3, kHeads * d_head, 1);
      Tensor seen = Tensor::empty({3, kHeads * d_head}), expected = Tensor::empty({3, kHeads * d_head});
      Tensor weights = Tensor::empty({3, 7}), expected_weights = Tensor::empty({3, 7});
      attention_step(query, shared, kHeads, seen, &weights);
      attention_step(query, whole, kHeads, expected, &expected_weights);
      EXPECT_TRUE(same_bits(seen, expected)) << tensor::dtype_name(dtype) << ", heads of " << d_head;
      EXPECT_TRUE(same_bits(weights, expected_weights)) << tensor::dtype_name(dtype) << ", heads of " << d_head;
    }
  }
}

// The last keys of the table, as a window takes them.
TEST(AttentionStep, ALaterPartOfTheTableIsAWindow) {
  const int n_heads = 2;
  const Cache cache(40, 32, 32);
  const Tensor query = matrix(40, 32, 1);
  const Tensor offsets = Tensor::from(std::vector<int32_t>{0, 40}, {2});
  const Tensor expected =
      ops::attention(Variable(query), Variable(cache.rows.columns(0, 32)), Variable(cache.rows.columns(32, 64)),
                     {offsets, offsets, {}}, {.n_heads = n_heads, .causal = true, .window = 9})
          .value();
  std::vector<int32_t> table(40);
  std::iota(table.begin(), table.end(), 0);
  std::vector<StepKeys> steps;
  for (int64_t t = 0; t < 40; ++t) {
    const int64_t length = std::min<int64_t>(t + 1, 9);
    steps.push_back(cache.prefix(length));
    steps.back().row_of_position = table.data() + t + 1 - length;
  }
  Tensor context = Tensor::empty({40, 32});
  attention_step(query, steps, n_heads, context, nullptr);
  EXPECT_TRUE(close(context, expected, 1e-5));
}

TEST(AttentionStep, RowHasTheSameBitsWhateverTheOtherRowsAre) {
  const Cache cache(40, 64, 64);
  const Tensor query = matrix(9, 64, 1);
  std::vector<StepKeys> steps;
  for (int64_t r = 0; r < 9; ++r) {
    steps.push_back(cache.prefix(1 + r * 4));
  }
  Tensor together = Tensor::empty({9, 64}), alone = Tensor::empty({1, 64});
  attention_step(query, steps, 2, together, nullptr);
  for (int64_t r = 0; r < 9; ++r) {
    attention_step(query.rows(r, r + 1), std::span(steps).subspan(static_cast<size_t>(r), 1), 2, alone, nullptr);
    EXPECT_TRUE(same_bits(alone, together.rows(r, r + 1).clone())) << "row " << r;
  }
}

TEST(AttentionStep, IndexTableEqualsACacheInThatOrder) {
  const Cache cache(12, 8, 8);
  const std::vector<int32_t> table{3, 3, 11, 0, 7};
  Tensor gathered = Tensor::empty({5, 16});
  for (int64_t t = 0; t < 5; ++t) {
    const int64_t row = table[static_cast<size_t>(t)];
    gathered.rows(t, t + 1).copy_from(cache.rows.rows(row, row + 1));
  }
  StepKeys indexed = cache.prefix(5);
  indexed.row_of_position = table.data();
  const StepKeys plain{gathered.data<float>(), gathered.data<float>() + 8, nullptr, 16, 5};
  const Tensor query = matrix(1, 8, 1);
  Tensor seen = Tensor::empty({1, 8}), expected = Tensor::empty({1, 8});
  attention_step(query, std::span(&indexed, 1), 2, seen, nullptr);
  attention_step(query, std::span(&plain, 1), 2, expected, nullptr);
  EXPECT_TRUE(same_bits(seen, expected));
}

// Hypotheses of two sentences, which are computed together where they read the same cache rows. In int8 the bytes of
// the cache are what they are: scales of heads are floats.
TEST(AttentionStep, RowsThatShareAHistoryHaveTheBitsOfRowsAlone) {
  constexpr int kHeads = 5;
  const std::vector<std::vector<int32_t>> tables{{0, 1, 2, 3, 4, 5, 6},
                                                 {0, 1, 2, 3, 4, 7, 8},
                                                 {0, 1, 2, 3, 4, 5, 9},
                                                 {0, 1, 2, 3, 4, 5, 6},
                                                 {0, 10, 11, 3, 4, 5, 6},
                                                 {0, 1, 2, 3, 4, 12, 6},
                                                 {9, 8, 7, 6, 5, 4, 3},
                                                 {9, 8, 7, 6, 5, 14, 13},
                                                 {9, 8, 2},
                                                 {4},
                                                 {4, 1},
                                                 {4, 1, 2},
                                                 {4, 1, 2, 3},
                                                 {4, 1, 2, 3, 5},
                                                 {4, 1}};
  const auto n_rows = static_cast<int64_t>(tables.size());
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kInt8}) {
    for (const int64_t d_head : {5, 16, 33, 64}) {
      const int64_t width = kHeads * d_head;
      const Tensor cache = cached(matrix(15, 2 * width, 7), kHeads, dtype);
      std::vector<StepKeys> steps;
      for (const std::vector<int32_t>& table : tables) {
        steps.push_back(keys_in(cache, table.data(), std::ssize(table)));
      }
      const Tensor query = matrix(n_rows, width, 1);
      Tensor together = Tensor::empty({n_rows, width}), alone = Tensor::empty({1, width});
      Tensor weights = Tensor::empty({n_rows, 7}), weights_alone = Tensor::empty({1, 7});
      attention_step(query, steps, kHeads, together, &weights);
      for (int64_t r = 0; r < n_rows; ++r) {
        attention_step(query.rows(r, r + 1), std::span(steps).subspan(static_cast<size_t>(r), 1), kHeads, alone,
                       &weights_alone);
        EXPECT_TRUE(same_bits(alone, together.rows(r, r + 1).clone()))
            << tensor::dtype_name(dtype) << ", heads of " << d_head << ", row " << r;
        EXPECT_TRUE(same_bits(weights_alone, weights.rows(r, r + 1).clone())) << "weights of row " << r;
      }
    }
  }
}

// bfloat16 rows are read as the float32 numbers they are.
TEST(AttentionStep, RoundedRowsGiveTheBitsOfTheirNumbers) {
  for (const int64_t d_head : {5, 16, 33, 64}) {
    const Tensor rows = matrix(21, 4 * d_head, 7);
    const Tensor narrow = cached(rows, 2, DType::kBFloat16);
    const Tensor numbers = rows.to(DType::kBFloat16).to(DType::kFloat32);
    EXPECT_TRUE(same_bits(narrow.to(DType::kFloat32), numbers)) << "round_row";
    const StepKeys small = keys_in(narrow, nullptr, 21);
    const StepKeys plain{numbers.data<float>(), numbers.data<float>() + 2 * d_head, nullptr, 4 * d_head, 21};
    const Tensor query = matrix(1, 2 * d_head, 1);
    Tensor seen = Tensor::empty({1, 2 * d_head}), expected = Tensor::empty({1, 2 * d_head});
    attention_step(query, std::span(&small, 1), 2, seen, nullptr);
    attention_step(query, std::span(&plain, 1), 2, expected, nullptr);
    EXPECT_TRUE(same_bits(seen, expected)) << "heads of " << d_head;
  }
}

TEST(AttentionStep, Int8RowsAreReadAsMultiplesOfTheirUnit) {
  constexpr int kHeads = 5;
  constexpr int64_t kLength = 21;
  for (const int64_t d_head : {1, 5, 16, 33, 64}) {
    const int64_t width = kHeads * d_head;
    Tensor rows = matrix(kLength, 2 * width, 7);
    std::fill_n(rows.data<float>() + 3 * 2 * width, d_head, 0.0F);  // scale 0
    const Tensor quantised = cached(rows, kHeads, DType::kInt8);
    const Tensor numbers = test_support::rounded_heads(rows, d_head);
    const StepKeys small = keys_in(quantised, nullptr, kLength);
    const StepKeys plain{numbers.data<float>(), numbers.data<float>() + width, nullptr, 2 * width, kLength};
    const Tensor query = matrix(1, width, 1);
    Tensor seen = Tensor::empty({1, width}), expected = Tensor::empty({1, width});
    attention_step(query, std::span(&small, 1), kHeads, seen, nullptr);
    attention_step(query, std::span(&plain, 1), kHeads, expected, nullptr);
    EXPECT_TRUE(close(seen, expected, 1e-5)) << "heads of " << d_head;
  }
}

TEST(AttentionStep, MeanWeightsSumToOneAndEndWithTheKeys) {
  const Cache cache(20, 24, 24);
  const std::vector<StepKeys> steps{cache.prefix(20), cache.prefix(3), cache.prefix(0)};
  Tensor context = Tensor::full({3, 24}, 5.0), weights = Tensor::full({3, 22}, 5.0);
  const Tensor query = matrix(3, 24, 1);
  attention_step(query, steps, 3, context, &weights);
  const auto values = weights.to_vector<float>();
  const auto sum_of = [&](size_t row, size_t length) {
    return std::accumulate(values.begin() + static_cast<long>(row * 22),
                           values.begin() + static_cast<long>(row * 22 + length), 0.0);
  };
  EXPECT_NEAR(sum_of(0, 20), 1.0, 1e-6);
  EXPECT_NEAR(sum_of(1, 3), 1.0, 1e-6);
  EXPECT_EQ(sum_of(1, 22), sum_of(1, 3)) << "weights past the length";
  EXPECT_TRUE(close(context.rows(2, 3).clone(), Tensor::zeros({1, 24}), 0.0)) << "row without keys";
  const Tensor offsets = Tensor::from(std::vector<int32_t>{0, 1, 1}, {3}).rows(0, 2);
  const Tensor ends = Tensor::from(std::vector<int32_t>{0, 20}, {2});
  const Tensor heads =
      ops::attention_weights(query.rows(0, 1), cache.rows.columns(0, 24), {offsets, ends, {}}, {3, false, {}});
  for (size_t s = 0; s < 20; ++s) {
    const auto all = heads.to_vector<float>();
    EXPECT_NEAR(values[s], (all[s] + all[20 + s] + all[40 + s]) / 3, 1e-6) << "key " << s;
  }
}

TEST(AttentionStep, NamesWhatDoesNotFit) {
  const Cache cache(4, 8, 8);
  const std::vector<StepKeys> steps(3, cache.prefix(4));
  Tensor context = Tensor::empty({4, 8}), narrow = Tensor::empty({3, 2});
  const auto error = [&](int64_t rows, int n_heads, Tensor& to, Tensor* weights) {
    return test_support::error_of([&] { attention_step(Tensor::zeros({rows, 8}), steps, n_heads, to, weights); });
  };
  EXPECT_EQ(error(4, 2, context, nullptr), "attention_step: 3 rows of keys for 4 queries");
  EXPECT_THAT(error(4, 3, context, nullptr), testing::HasSubstr("which 3 heads do not divide"));
  EXPECT_THAT(error(3, 2, context, nullptr), testing::HasSubstr("4 rows of context for 3 queries"));
  Tensor fitting = Tensor::empty({3, 8});
  EXPECT_EQ(error(3, 2, fitting, &narrow), "attention_step: mean_weights is [3, 2], must be [3, 4 or more]");
}

}  // namespace
}  // namespace dragoman::kernels
