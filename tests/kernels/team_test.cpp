// Products shared out over a team have the bits of those computed alone.
#include "kernels/team.h"

#include <gmock/gmock.h>

#include <numeric>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "ops/best_logits.h"
#include "ops/packed_weight.h"
#include "support/tensors.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;
using test_support::random_tensor;
using test_support::same_bits;

struct Size {
  int64_t rows, depth, columns;
};

// Some too small to be shared out, some with a last panel that is not whole.
constexpr Size kSizes[] = {{1, 512, 2048}, {1, 512, 513}, {5, 300, 1000}, {3, 64, 20}, {40, 256, 31}, {2, 1100, 4999}};

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return random_tensor(shape, DType::kFloat32, seed);
}

class Teams : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precisions, Teams,
                         testing::Values(Precision::kFloat32, Precision::kBFloat16, Precision::kInt8));

// Prompts of different lengths, and single rows, whose heads are shared out.
TEST(AttentionOfTeams, KeepsItsBits) {
  constexpr int64_t kWidth = 320, kCached = 700;
  constexpr int kHeads = 10;
  const Tensor cache = random_float32({kCached, 2 * kWidth}, 6);
  std::vector<int32_t> table(kCached);
  std::iota(table.begin(), table.end(), 0);
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{600}, {700, 650, 3}, {1}, {500, 501, 502, 503, 504, 1, 2, 3, 4, 300, 301}}) {
    std::vector<StepKeys> rows;
    for (const int64_t length : lengths) {
      rows.push_back({cache.data<float>(), cache.data<float>() + kWidth, table.data() + (kCached - length) % 7,
                      cache.stride(0), std::min<int64_t>(length, kCached - 7)});
    }
    const auto n_rows = static_cast<int64_t>(rows.size());
    const Tensor query = random_float32({n_rows, kWidth}, 7);
    const auto attended = [&] {
      Tensor context = Tensor::full({n_rows, kWidth}, 9.0);
      backend_of(context).attention_step(query, rows, kHeads, context, nullptr);
      return context;
    };
    const Tensor alone = attended();
    for (const int threads : {2, 3, 7}) {
      base::WorkerPool pool(threads, std::chrono::microseconds(100));
      const TeamScope scope(&pool);
      EXPECT_TRUE(same_bits(attended(), alone)) << n_rows << " rows, " << threads << " threads";
    }
  }
}

TEST_P(Teams, ProductsKeepTheirBits) {
  for (const Size& size : kSizes) {
    const Tensor x = random_float32({size.rows, size.depth}, 1);
    const Tensor bias = random_float32({size.columns}, 2), other_bias = random_float32({size.columns / 2}, 3);
    const PackedMatrix matrix(random_float32({size.depth, size.columns}, 4), Transpose::kNo, GetParam());
    const PackedMatrix other(random_float32({size.depth, size.columns / 2}, 5), Transpose::kNo, GetParam());
    const auto both = [&] {
      const PackedEpilogue relu{bias, Activation::kRelu}, none{other_bias, Activation::kNone};
      const Tensor of_each = Tensor::full({size.rows, size.columns}, 9.0);
      const Tensor of_other = Tensor::full({size.rows, size.columns / 2}, 9.0);
      ProductOfSame products[] = {{&matrix, relu, of_each}, {&other, none, of_other}};
      PackedMatrix::multiply_each(x, products);
      Tensor y = Tensor::full({size.rows, size.columns}, 9.0);
      matrix.multiply(x, {bias, Activation::kNone}, y);
      return std::vector<Tensor>{of_each, of_other, y};
    };
    const std::vector<Tensor> alone = both();
    for (const int threads : {2, 3, 7}) {
      base::WorkerPool pool(threads, std::chrono::microseconds(100));
      const TeamScope scope(&pool);
      const std::vector<Tensor> together = both();
      for (size_t i = 0; i < alone.size(); ++i) {
        EXPECT_TRUE(same_bits(together[i], alone[i]))
            << size.rows << " x " << size.depth << " x " << size.columns << ", product " << i << ", " << threads;
      }
    }
  }
}

TEST_P(Teams, BestLogitsKeepTheirBits) {
  for (const Size& size : kSizes) {
    const Tensor x = random_float32({size.rows, size.depth}, 6), bias = random_float32({size.columns}, 7);
    const Tensor table = random_float32({size.columns, size.depth}, 8);
    ops::PackedWeight copy(table.shape(), {GetParam(), Transpose::kYes, false});
    copy.pack(table, 0, copy.panels());
    BestLogits alone, together;
    ops::best_of_product(x, ops::Weight(autograd::Variable(table), &copy), bias, 5, alone);
    base::WorkerPool pool(3);
    const TeamScope scope(&pool);
    ops::best_of_product(x, ops::Weight(autograd::Variable(table), &copy), bias, 5, together);
    for (size_t row = 0; row < alone.rows(); ++row) {
      EXPECT_THAT(together.row(row).ids, testing::ElementsAreArray(alone.row(row).ids)) << "row " << row;
      EXPECT_THAT(together.row(row).values, testing::ElementsAreArray(alone.row(row).values)) << "row " << row;
      EXPECT_EQ(together.row(row).log_sum_exp, alone.row(row).log_sum_exp) << "row " << row;
    }
  }
}

TEST(TeamScopes, NestAndEnd) {
  base::WorkerPool two(2), one(1);
  EXPECT_EQ(TeamScope::current(), nullptr);
  {
    const TeamScope outer(&two);
    EXPECT_EQ(TeamScope::current(), &two);
    {
      const TeamScope inner(&one);
      EXPECT_EQ(TeamScope::current(), nullptr) << "a team of one shares nothing";
    }
    EXPECT_EQ(TeamScope::current(), &two);
  }
  EXPECT_EQ(TeamScope::current(), nullptr);
}

}  // namespace
}  // namespace dragoman::kernels
