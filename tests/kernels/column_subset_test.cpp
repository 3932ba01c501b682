// Columns gathered from a packed matrix give the bits of the whole product.
#include "kernels/cpu/gemm/column_subset.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/error_of.h"
#include "support/tensors.h"

namespace dragoman::kernels {
namespace {

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return test_support::random_tensor(shape, tensor::DType::kFloat32, seed);
}

size_t count_differences(const Tensor& whole, const Tensor& part, const std::vector<int32_t>& columns) {
  size_t differences = 0;
  for (int64_t row = 0; row < whole.dim(0); ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const float expected = whole.data<float>()[row * whole.stride(0) + columns[i]];
      differences += part.data<float>()[row * part.stride(0) + static_cast<int64_t>(i)] == expected ? 0 : 1;
    }
  }
  return differences;
}

TEST(ColumnSubset, GivesTheBitsOfTheWholeProduct) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    for (const int64_t rows : {1, 3, 70}) {
      constexpr int64_t kDepth = 75, kColumns = 1000;  // neither fills its last cell or panel
      const Tensor x = random_float32({rows, kDepth}, 1), bias = random_float32({kColumns}, 2);
      const PackedMatrix whole(random_float32({kColumns, kDepth}, 3), Transpose::kYes, precision);
      Tensor y = Tensor::empty({rows, kColumns});
      whole.multiply(x, {bias, Activation::kNone}, y);
      ColumnSubset subset(whole, bias);
      base::Random random(4);
      for (const int step : {1, 2}) {
        std::vector<int32_t> columns;
        for (const size_t count : {1, 46, 2, 100, 300}) {  // in parts that end inside panels and at their end
          std::vector<int32_t> more;
          for (size_t i = 0; i < count; ++i) {
            more.push_back(static_cast<int32_t>(random.below(kColumns)));
          }
          more.back() = kColumns - 1;
          subset.append(more);
          columns.insert(columns.end(), more.begin(), more.end());
          EXPECT_EQ(subset.size(), static_cast<int64_t>(columns.size()));
          EXPECT_EQ(count_differences(y, subset.multiply(x), columns), 0U)
              << "of " << rows * subset.size() << " numbers in " << name_of(precision) << ", filled " << step
              << " times";
        }
        subset.clear();
      }
    }
  }
}

TEST(ColumnSubset, HoldsNothingAtFirstAndNeedsNoBias) {
  const Tensor x = random_float32({4, 32}, 1);
  const PackedMatrix whole(random_float32({32, 100}, 2));
  ColumnSubset subset(whole, {});
  EXPECT_EQ(subset.multiply(x).dim(1), 0);
  Tensor y = Tensor::empty({4, 100});
  whole.multiply(x, {}, y);
  subset.append(std::vector<int32_t>{99, 0, 50});
  EXPECT_EQ(count_differences(y, subset.multiply(x), {99, 0, 50}), 0U);
}

TEST(ColumnSubset, RefusesWhatIsNoColumnOrDoesNotFit) {
  const PackedMatrix whole(random_float32({32, 100}, 2));
  ColumnSubset subset(whole, {});
  EXPECT_EQ(test_support::error_of([&] { subset.append(std::vector<int32_t>{100}); }),
            "column_subset: column 100 requested, there are 100");
  EXPECT_EQ(test_support::error_of([&] {
              subset.multiply(random_float32({1, 31}, 1));
            }),
            "column_subset: x is [1, 31], must have 32 columns");
}

}  // namespace
}  // namespace dragoman::kernels
