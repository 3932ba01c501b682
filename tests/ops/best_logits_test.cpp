#include "ops/best_logits.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/output/top_k.h"
#include "support/error_of.h"
#include "support/tensors.h"

namespace dragoman::ops {
namespace {

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return test_support::random_tensor(shape, tensor::DType::kFloat32, seed);
}

void expect_same_bits(const BestLogits& expected, const BestLogits& seen, const std::string& what) {
  ASSERT_EQ(expected.rows(), seen.rows()) << what;
  ASSERT_EQ(expected.k(), seen.k()) << what;
  for (size_t row = 0; row < expected.rows(); ++row) {
    const kernels::BestRow a = expected.row(row), b = seen.row(row);
    EXPECT_THAT(b.ids, testing::ElementsAreArray(a.ids)) << what << ", row " << row;
    EXPECT_THAT(b.values, testing::ElementsAreArray(a.values)) << what << ", row " << row;
    EXPECT_EQ(b.log_sum_exp, a.log_sum_exp) << what << ", row " << row;
  }
}

// The product that is never stored gives what the stored one gives, in all widths around a part of the columns.
TEST(BestLogits, OfTheProductAreThoseOfTheStoredProduct) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    for (const auto [rows, depth, columns] :
         {std::array<int64_t, 3>{1, 33, 7}, {3, 64, 479}, {130, 32, 480}, {5, 600, 481}, {4, 1100, 1500}}) {
      const Tensor x = random_float32({rows, depth}, 1), table = random_float32({columns, depth}, 2);
      const Tensor bias = random_float32({columns}, 3);
      PackedWeight copy(table.shape(), {precision, Transpose::kYes, false});
      copy.pack(table, 0, copy.panels());
      const Weight weight(Variable(table), &copy);
      Tensor logits = Tensor::empty({rows, columns});
      multiply_weight(x, weight, Transpose::kYes, bias, logits);
      BestLogits expected, seen;
      kernels::best_of_rows(logits, 6, expected);
      best_of_product(x, weight, bias, 6, seen);
      expect_same_bits(expected, seen,
                       fmt::format("{} [{}, {}] x [{}]", kernels::name_of(precision), rows, depth, columns));
    }
  }
}

TEST(BestLogits, WithoutAPackedCopyTheBitsAreThoseOfAFloat32Copy) {
  const Tensor x = random_float32({9, 40}, 1), table = random_float32({700, 40}, 2);
  PackedWeight copy(table.shape(), {Precision::kFloat32, Transpose::kYes, false});
  copy.pack(table, 0, copy.panels());
  BestLogits with, without;
  best_of_product(x, Weight(Variable(table), &copy), {}, 5, with);
  best_of_product(x, Weight(Variable(table)), {}, 5, without);
  expect_same_bits(with, without, "no copy");
}

// With and without a packed copy, in precisions with a screen and without: what remains when tokens before the first
// are struck out begins with the same token.
TEST(BestLogits, AChoiceIsTheLargestThatIsLeft) {
  constexpr int32_t kFirst = 4;
  const Tensor x = random_float32({29, 40}, 1), table = random_float32({1700, 40}, 2);
  for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
    PackedWeight copy(table.shape(), {precision, Transpose::kYes, false});
    copy.pack(table, 0, copy.panels());
    for (const Weight& weight : {Weight(Variable(table), &copy), Weight(Variable(table))}) {
      BestLogits all, choice;
      choice.want_choice(kFirst);
      best_of_product(x, weight, {}, 2 * kFirst, all);
      best_of_product(x, weight, {}, kFirst + 1, choice);
      for (size_t row = 0; row < all.rows(); ++row) {
        const auto left = [&](const kernels::BestRow& best, int32_t from) {
          const auto place = static_cast<size_t>(
              std::ranges::find_if(best.ids, [&](int32_t id) { return id >= from; }) - best.ids.begin());
          return std::pair(best.ids[place], best.values[place]);
        };
        for (const int32_t from : {0, 1, 3, kFirst}) {
          EXPECT_EQ(left(choice.row(row), from), left(all.row(row), from)) << "from " << from << ", row " << row;
        }
        EXPECT_EQ(choice.row(row).log_sum_exp, choice.row(row).values[0]) << "row " << row;
      }
    }
  }
}

TEST(BestLogits, ARowDoesNotDependOnTheOthers) {
  const Tensor x = random_float32({300, 48}, 1), table = random_float32({1000, 48}, 2);
  PackedWeight copy(table.shape(), {Precision::kInt8, Transpose::kYes, false});
  copy.pack(table, 0, copy.panels());
  const Weight weight(Variable(table), &copy);
  BestLogits all, one;
  best_of_product(x, weight, {}, 8, all);
  for (const int64_t row : {0, 127, 128, 299}) {
    best_of_product(x.rows(row, row + 1), weight, {}, 8, one);
    const kernels::BestRow expected = one.row(0), seen = all.row(static_cast<size_t>(row));
    EXPECT_THAT(seen.ids, testing::ElementsAreArray(expected.ids)) << "row " << row;
    EXPECT_THAT(seen.values, testing::ElementsAreArray(expected.values)) << "row " << row;
    EXPECT_EQ(seen.log_sum_exp, expected.log_sum_exp) << "row " << row;
  }
}

TEST(BestLogits, GiveAllOfASmallVocabularyAndNoRows) {
  const Tensor logits = Tensor::from(std::vector<float>{1, 3, 2}, {1, 3});
  BestLogits best;
  kernels::best_of_rows(logits, 10, best);
  EXPECT_EQ(best.k(), 3);
  EXPECT_THAT(best.row(0).ids, testing::ElementsAre(1, 2, 0));
  best_of_product(Tensor::empty({0, 4}), Weight(Variable(random_float32({8, 4}, 1))), {}, 2, best);
  EXPECT_EQ(best.rows(), 0U);
}

// Parts in which the largest rises, falls, is minus infinity or is no number.
TEST(BestLogits, ASummaryOfPartsIsThatOfTheRow) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {0.0F, -kInfinity, kInfinity, std::numeric_limits<float>::quiet_NaN(), 90.0F, -90.0F}) {
    for (const int64_t place : {0L, 500L, 1300L}) {
      Tensor row = random_float32({1, 1301}, 4);
      row.data<float>()[place] = odd;
      std::vector<float> values(3), expected_values(3);
      std::vector<int32_t> ids(3), expected_ids(3);
      kernels::RowSummary summary;
      summary.begin(3, values.data(), ids.data());
      for (int64_t column = 0; column < 1301; column += kernels::kPartColumns) {
        summary.take(row.data<float>() + column, column, std::min(1301 - column, kernels::kPartColumns));
      }
      kernels::top_k(row.data<float>(), 1301, 3, expected_values.data(), expected_ids.data());
      const double expected = kernels::log_sum_exp(row.data<float>(), 1301), seen = summary.log_sum_exp();
      EXPECT_EQ(ids, expected_ids) << odd << " at " << place;
      EXPECT_EQ(values, expected_values) << odd << " at " << place;
      EXPECT_TRUE(seen == expected || (std::isnan(seen) && std::isnan(expected)))
          << odd << " at " << place << ": " << seen << ", of the whole row " << expected;
    }
  }
}

}  // namespace
}  // namespace dragoman::ops
