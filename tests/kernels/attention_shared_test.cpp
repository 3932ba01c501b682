#include "kernels/cpu/attention/attention_shared.h"

#include <gmock/gmock.h>

#include <algorithm>

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
using test_support::rounded_heads;
using test_support::same_bits;
using test_support::strided_copy;

Tensor matrix(int64_t rows, int64_t columns, uint64_t seed) {
  return random_tensor({rows, columns}, DType::kFloat32, seed);
}

struct Heads {
  int count;
  int64_t d_head, d_value;
};

TEST(AttentionShared, EveryGroupAttendsToItsOwnKeys) {
  const std::vector<int64_t> lengths = {1, 16, 17, 30, 100}, rows = {1, 2, 3, 4, 9};
  for (const Heads& heads : {Heads{1, 1, 1}, {2, 7, 3}, {2, 16, 33}, {4, 32, 32}, {2, 64, 64}, {1, 50, 80}}) {
    std::vector<int32_t> query_offsets = {0}, key_offsets = {0};
    for (size_t i = 0; i < lengths.size(); ++i) {
      query_offsets.push_back(query_offsets.back() + static_cast<int32_t>(rows[i]));
      key_offsets.push_back(key_offsets.back() + static_cast<int32_t>(lengths[i]));
    }
    const Tensor query = strided_copy(matrix(query_offsets.back(), heads.count * heads.d_head, 1));
    const Tensor keys = strided_copy(matrix(key_offsets.back(), heads.count * heads.d_head, 2));
    const Tensor values = strided_copy(matrix(key_offsets.back(), heads.count * heads.d_value, 3));
    std::vector<SharedKeys> packed;
    std::vector<SharedRows> groups;
    packed.reserve(lengths.size());
    for (size_t i = 0; i < lengths.size(); ++i) {
      packed.push_back(pack_shared_keys(keys.rows(key_offsets[i], key_offsets[i + 1]),
                                        values.rows(key_offsets[i], key_offsets[i + 1]), heads.count));
      groups.push_back({&packed.back(), rows[i]});
    }
    Tensor context = Tensor::full({query.dim(0), heads.count * heads.d_value}, 9.0);
    attention_shared(query, groups, heads.count, context);
    const auto offsets = [](const std::vector<int32_t>& of) {
      return Tensor::from(of, {static_cast<int64_t>(of.size())});
    };
    const Tensor expected = ops::attention(Variable(query), Variable(keys), Variable(values),
                                           {offsets(query_offsets), offsets(key_offsets), {}}, {heads.count, false, {}})
                                .value();
    EXPECT_TRUE(close(context, expected, 1e-5)) << heads.count << " heads of " << heads.d_head << ", " << heads.d_value;
  }
}

TEST(AttentionShared, RowHasTheSameBitsWhateverTheOtherRowsAre) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kInt8}) {
    const SharedKeys keys = pack_shared_keys(matrix(37, 64, 1), matrix(37, 64, 2), 2, dtype);
    const SharedKeys others = pack_shared_keys(matrix(5, 64, 4), matrix(5, 64, 5), 2, dtype);
    const Tensor query = matrix(9, 64, 3);
    Tensor together = Tensor::empty({9, 64}), alone = Tensor::empty({1, 64});
    const std::vector<SharedRows> all = {{&keys, 7}, {&others, 2}};
    const SharedRows one{&keys, 1};
    attention_shared(query, all, 2, together);
    for (int64_t r = 0; r < 7; ++r) {
      attention_shared(query.rows(r, r + 1), {&one, 1}, 2, alone);
      EXPECT_TRUE(same_bits(alone, together.rows(r, r + 1).clone())) << tensor::dtype_name(dtype) << ", row " << r;
    }
  }
}

// bfloat16 keys and values are read as the float32 numbers they are.
TEST(AttentionShared, RoundedKeysGiveTheBitsOfTheirNumbers) {
  for (const int64_t d_head : {5, 16, 33, 64}) {
    const Tensor keys = strided_copy(matrix(37, 2 * d_head, 1)), values = strided_copy(matrix(37, 2 * d_head, 2));
    const auto numbers = [](const Tensor& of) { return of.to(DType::kBFloat16).to(DType::kFloat32); };
    const SharedKeys small = pack_shared_keys(keys, values, 2, DType::kBFloat16);
    const SharedKeys plain = pack_shared_keys(numbers(keys), numbers(values), 2);
    const Tensor query = matrix(5, 2 * d_head, 3);
    Tensor seen = Tensor::empty({5, 2 * d_head}), expected = Tensor::empty({5, 2 * d_head});
    const SharedRows small_group{&small, 5}, plain_group{&plain, 5};
    attention_shared(query, {&small_group, 1}, 2, seen);
    attention_shared(query, {&plain_group, 1}, 2, expected);
    EXPECT_TRUE(same_bits(seen, expected)) << "heads of " << d_head;
  }
}

TEST(AttentionShared, Int8KeysAreReadAsMultiplesOfTheirUnit) {
  for (const int64_t d_head : {1, 5, 16, 33, 64}) {
    Tensor keys = matrix(37, 2 * d_head, 1);
    const Tensor values = strided_copy(matrix(37, 2 * d_head, 2));
    std::fill_n(keys.data<float>() + 3 * 2 * d_head, d_head, 0.0F);  // scale 0
    const SharedKeys small = pack_shared_keys(strided_copy(keys), values, 2, DType::kInt8);
    const SharedKeys plain = pack_shared_keys(rounded_heads(keys, d_head), rounded_heads(values, d_head), 2);
    const Tensor query = matrix(9, 2 * d_head, 3);
    Tensor seen = Tensor::empty({9, 2 * d_head}), expected = Tensor::empty({9, 2 * d_head});
    Tensor mean = Tensor::empty({9, 37}), expected_mean = Tensor::empty({9, 37});
    const SharedRows small_group{&small, 9}, plain_group{&plain, 9};
    attention_shared(query, {&small_group, 1}, 2, seen, &mean);
    attention_shared(query, {&plain_group, 1}, 2, expected, &expected_mean);
    EXPECT_TRUE(close(seen, expected, 1e-5)) << "heads of " << d_head;
    EXPECT_TRUE(close(mean, expected_mean, 1e-5)) << "heads of " << d_head;
  }
}

TEST(AttentionShared, MeanWeightsAreThoseOfTheHeads) {
  const Tensor keys = matrix(20, 24, 1), values = matrix(20, 24, 2), query = matrix(6, 24, 3);
  const SharedKeys packed = pack_shared_keys(keys, values, 3);
  Tensor context = Tensor::empty({6, 24}), mean = Tensor::full({6, 22}, 5.0);
  const SharedRows group{&packed, 6};
  attention_shared(query, {&group, 1}, 3, context, &mean);
  const auto ends = [](int32_t end) { return Tensor::from(std::vector<int32_t>{0, end}, {2}); };
  const auto heads = ops::attention_weights(query, keys, {ends(6), ends(20), {}}, {3, false, {}}).to_vector<float>();
  for (size_t row = 0; row < 6; ++row) {
    for (size_t t = 0; t < 22; ++t) {
      float expected = 0.0F;
      for (size_t h = 0; h < 3 && t < 20; ++h) {
        expected += heads[(h * 6 + row) * 20 + t] / 3.0F;
      }
      EXPECT_NEAR(mean.to_vector<float>()[row * 22 + t], expected, 1e-6) << "row " << row << ", key " << t;
    }
  }
}

TEST(AttentionShared, NoKeysGiveZeros) {
  const SharedKeys none = pack_shared_keys(Tensor::empty({0, 8}), Tensor::empty({0, 8}), 2);
  Tensor context = Tensor::full({3, 8}, 5.0);
  const SharedRows group{&none, 3};
  attention_shared(matrix(3, 8, 1), {&group, 1}, 2, context);
  EXPECT_TRUE(same_bits(context, Tensor::zeros({3, 8})));
}

TEST(AttentionShared, NamesWhatDoesNotFit) {
  EXPECT_EQ(test_support::error_of([] {
              static_cast<void>(pack_shared_keys(Tensor::zeros({4, 8}), Tensor::zeros({3, 8}), 2));
            }),
            "pack_shared_keys: values is [3, 8], must be [4, 8]");
  EXPECT_EQ(test_support::error_of([] {
              static_cast<void>(pack_shared_keys(Tensor::zeros({4, 8}), Tensor::zeros({4, 8}), 3));
            }),
            "pack_shared_keys: keys has width 8, which 3 heads do not divide");
  const SharedKeys keys = pack_shared_keys(Tensor::zeros({4, 8}), Tensor::zeros({4, 8}), 2);
  const SharedRows group{&keys, 3};
  Tensor context = Tensor::empty({4, 8});
  EXPECT_EQ(test_support::error_of([&] {
              attention_shared(Tensor::zeros({4, 8}), {&group, 1}, 2, context);
            }),
            "attention_shared: groups of 3 rows for 4 queries and 4 rows of context");
}

}  // namespace
}  // namespace dragoman::kernels
