#include "kernels/cpu/output/logit_screen.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/packed_weight.h"
#include "support/error_of.h"
#include "support/tensors.h"

namespace dragoman::kernels {
namespace {

constexpr int64_t kColumns = 1500;
constexpr int32_t kFirst = 4;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return test_support::random_tensor(shape, tensor::DType::kFloat32, seed);
}

// Few large elements among many small ones, which int8 rounds badly.
Tensor uneven(const tensor::Shape& shape, uint64_t seed) {
  Tensor x = random_float32(shape, seed);
  for (float& value : x.span<float>()) {
    value = std::pow(value, 9.0F);
  }
  return x;
}

Tensor logits_of(const PackedMatrix& matrix, const Tensor& x, const Tensor& bias) {
  Tensor y = Tensor::empty({x.dim(0), matrix.columns()});
  matrix.multiply(x, {bias, Activation::kNone}, y);
  return y;
}

// W [D, V] as float32 panels and what is screened with it.
struct Screened {
  explicit Screened(const Tensor& weight) : matrix(weight), screen(matrix) {}

  // Of each row: what the whole product says that a choice must find.
  void expect_choices(const Tensor& x, const Tensor& bias, const std::string& what) const {
    BestLogits best;
    best.want_choice(kFirst);
    screen.best(x, matrix, bias, kFirst, best);
    const Tensor all = logits_of(matrix, x, bias);
    ASSERT_EQ(best.rows(), static_cast<size_t>(x.dim(0))) << what;
    for (size_t row = 0; row < best.rows(); ++row) {
      const auto logits = all.span<float>().subspan(row * kColumns, kColumns);
      int32_t expected = kFirst;
      for (int32_t id = kFirst; id < kColumns; ++id) {
        expected = logits[static_cast<size_t>(id)] > logits[static_cast<size_t>(expected)] ? id : expected;
      }
      const float largest = logits[static_cast<size_t>(expected)];
      const BestRow seen = best.row(row);
      size_t place = 0;
      for (; place < seen.ids.size() && seen.ids[place] < kFirst; ++place) {
      }
      ASSERT_LT(place, seen.ids.size()) << what << ", row " << row << ": no token from " << kFirst << " on";
      EXPECT_EQ(seen.ids[place], expected) << what << ", row " << row << ": the largest is " << largest;
      for (size_t i = 0; i < seen.ids.size(); ++i) {
        const float value = logits[static_cast<size_t>(seen.ids[i])];
        EXPECT_EQ(std::bit_cast<uint32_t>(seen.values[i]), std::bit_cast<uint32_t>(value))
            << what << ", row " << row << ", token " << seen.ids[i] << ": " << seen.values[i] << ", expected " << value;
        EXPECT_TRUE(i == 0 || seen.values[i] <= seen.values[i - 1]) << what << ", row " << row << ": not falling";
      }
      for (int32_t id = 0; id < kFirst; ++id) {
        const bool held = std::ranges::find(seen.ids, id) != seen.ids.end();
        EXPECT_TRUE(held || logits[static_cast<size_t>(id)] <= largest) << what << ", row " << row << " lacks " << id;
      }
    }
  }

  PackedMatrix matrix;
  LogitScreen screen;
};

TEST(LogitScreen, NoLogitIsFurtherFromItsProductInInt8ThanTheErrorSays) {
  for (const int64_t depth : {1, 33, 512, 1100}) {
    for (const auto& draw : {random_float32, uneven}) {
      const Tensor x = draw({9, depth}, 1), bias = random_float32({kColumns}, 3);
      const Screened screened(draw({depth, kColumns}, 2));
      const Tensor exact = logits_of(screened.matrix, x, bias), rough = logits_of(screened.screen.rounded(), x, bias);
      for (int64_t row = 0; row < x.dim(0); ++row) {
        const double error = screened.screen.error_of(x.data<float>() + row * depth, 1.0);
        double furthest = 0;
        for (int64_t i = row * kColumns; i < (row + 1) * kColumns; ++i) {
          furthest = std::max(furthest, std::abs(static_cast<double>(exact.data<float>()[i]) -
                                                 static_cast<double>(rough.data<float>()[i])));
        }
        EXPECT_LE(furthest, error) << "row " << row << ", depth " << depth;
        EXPECT_TRUE(depth < 33 || error < 100 * furthest) << error << " says nothing where " << furthest << " is seen";
      }
    }
  }
}

TEST(LogitScreen, ChoosesWhatFloat32Chooses) {
  for (const int64_t depth : {32, 512, 1100}) {
    for (const auto& draw : {random_float32, uneven}) {
      const Screened screened(draw({depth, kColumns}, 2));
      const Tensor x = draw({140, depth}, 1);
      screened.expect_choices(x, {}, fmt::format("depth {}", depth));
      screened.expect_choices(x.rows(7, 8), random_float32({kColumns}, 3), fmt::format("one row, depth {}", depth));
    }
  }
}

// Columns in groups of ten that differ in their last bits, or not at all: only float32 tells them apart.
TEST(LogitScreen, TellsColumnsApartThatInt8DoesNot) {
  Tensor weight = random_float32({64, kColumns}, 2);
  for (int64_t k = 0; k < 64; ++k) {
    float* row = weight.data<float>() + k * kColumns;
    for (int64_t column = 0; column < kColumns; ++column) {
      const float first = row[column / 10 * 10];
      row[column] = column % 10 < 3 || k % 10 != column % 10 ? first : std::nextafter(first, kInfinity);
    }
  }
  const Tensor x = random_float32({60, 64}, 1);
  Screened(weight).expect_choices(x, {}, "in groups");
  Tensor same = Tensor::full({64, kColumns}, 0.5);
  Screened(same).expect_choices(x, {}, "all equal: the lowest token is chosen, whatever the number");
  Screened(Tensor::zeros({64, kColumns})).expect_choices(x, {}, "all zero");
}

TEST(LogitScreen, ChoosesAsFloat32WhereSomethingIsNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor weight = random_float32({64, kColumns}, 2), x = random_float32({8, 64}, 1);
  Tensor bias = random_float32({kColumns}, 3);
  bias.data<float>()[700] = -kInfinity;
  bias.data<float>()[2] = -kInfinity;
  bias.data<float>()[900] = kNan;
  Screened(weight).expect_choices(x, bias, "a bias");
  for (const float odd : {kNan, kInfinity, -kInfinity}) {
    Tensor broken = weight.clone();
    broken.data<float>()[10 * kColumns + 50] = odd;
    BestLogits best;
    const Screened screened(broken);
    EXPECT_FALSE(std::isfinite(screened.screen.error_of(x.data<float>(), 0.0))) << odd << " in a weight";
    screened.screen.best(x, screened.matrix, {}, kFirst, best);
    BestLogits expected;
    best_of_rows(logits_of(screened.matrix, x, {}), kFirst + 1, expected);
    for (size_t row = 0; row < best.rows(); ++row) {
      EXPECT_THAT(best.row(row).ids, testing::ElementsAreArray(expected.row(row).ids)) << odd << ", row " << row;
    }
  }
  Tensor row = x.clone();
  row.data<float>()[64 + 3] = kNan;
  BestLogits best;
  const Screened screened(weight);
  screened.screen.best(row, screened.matrix, {}, kFirst, best);
  EXPECT_EQ(best.row(1).values[0], -kInfinity) << "of a row that holds NaN nothing is known";
  EXPECT_TRUE(std::isfinite(best.row(2).values[0])) << "its neighbour is as it was";
}

TEST(LogitScreen, IsMadeForInferenceInFloat32Alone) {
  const Tensor table = random_float32({kColumns, 64}, 2);
  const auto screen_of = [&](const ops::PackedWeightLayout& layout) {
    ops::PackedWeight copy(table.shape(), layout);
    copy.pack(table, 0, copy.panels());
    return copy.screen() != nullptr;
  };
  EXPECT_EQ(screen_of({Precision::kFloat32, Transpose::kYes, false}), LogitScreen::pays());
  EXPECT_FALSE(screen_of({Precision::kFloat32, Transpose::kNo, false})) << "64 columns";
  EXPECT_FALSE(screen_of({Precision::kFloat32, Transpose::kYes, true})) << "packed again after each update";
  EXPECT_FALSE(screen_of({Precision::kInt8, Transpose::kYes, false}));
  EXPECT_FALSE(screen_of({Precision::kBFloat16, Transpose::kYes, false}));
}

TEST(LogitScreen, AWeightIsNotPackedAgainOnceItHasOne) {
  if (!LogitScreen::pays()) {
    GTEST_SKIP() << "no fast int8 here, so there is none";
  }
  const Tensor table = random_float32({kColumns, 64}, 2);
  ops::PackedWeight copy(table.shape(), {Precision::kFloat32, Transpose::kYes, false});
  copy.pack(table, 0, copy.panels());
  copy.pack(table, 0, copy.panels());
  ASSERT_NE(copy.screen(), nullptr);
  EXPECT_THAT(test_support::error_of([&] { copy.pack(table, 0, 1); }), testing::HasSubstr("packed again"));
}

}  // namespace
}  // namespace dragoman::kernels
