// Large products whose sizes are no multiples of 8.
#include <gtest/gtest.h>

#include "base/random.h"
#include "kernels/backends/backend_of.h"
#include "support/cuda_device.h"
#include "tensor/transfer.h"

namespace dragoman::kernels {
namespace {

using tensor::Tensor;

// Small whole numbers, of which products and sums are exact.
std::vector<float> digits(int64_t count, uint64_t seed) {
  base::Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = static_cast<float>(random.below(5)) - 2.0F;
  }
  return values;
}

struct Sizes {
  int64_t rows, columns, depth;
};

class OddProducts : public testing::TestWithParam<Sizes> {};
INSTANTIATE_TEST_SUITE_P(Sizes, OddProducts,
                         testing::Values(Sizes{3, 2051, 5}, Sizes{2051, 6, 3}, Sizes{5, 7, 2051},
                                         Sizes{3, 2049, 2055}));

TEST_P(OddProducts, AreExactInEachForm) {
  if (!cuda::has_device()) {
    GTEST_SKIP() << cuda::describe_devices().front();
  }
  const auto [m, n, k] = GetParam();
  const std::vector<float> a = digits(m * k, 1), b = digits(k * n, 2), bias = digits(n, 3), before = digits(m * n, 4);
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const bool accumulate : {false, true}) {
        const auto at = [](const std::vector<float>& values, bool transposed, int64_t row, int64_t column, int64_t rows,
                           int64_t columns) {
          return values[static_cast<size_t>(transposed ? column * rows + row : row * columns + column)];
        };
        std::vector<float> expected(static_cast<size_t>(m * n));
        for (int64_t row = 0; row < m; ++row) {
          for (int64_t column = 0; column < n; ++column) {
            float sum = accumulate ? before[static_cast<size_t>(row * n + column)] : bias[static_cast<size_t>(column)];
            for (int64_t i = 0; i < k; ++i) {
              sum += at(a, a_transposed, row, i, m, k) * at(b, b_transposed, i, column, k, n);
            }
            expected[static_cast<size_t>(row * n + column)] = sum;
          }
        }
        const test_support::OnCuda device;
        const auto in_bfloat16 = [](const std::vector<float>& values, bool transposed, int64_t rows, int64_t columns) {
          return Tensor::from<float>(values, transposed ? tensor::Shape{columns, rows} : tensor::Shape{rows, columns})
              .to(tensor::DType::kBFloat16);
        };
        const Tensor left = in_bfloat16(a, a_transposed, m, k), right = in_bfloat16(b, b_transposed, k, n);
        const Tensor added = Tensor::from<float>(bias, {n});
        Tensor result = Tensor::from<float>(before, {m, n});
        const auto transposed = [](bool is_transposed) { return is_transposed ? Transpose::kYes : Transpose::kNo; };
        const GemmProblem problem{left,
                                  transposed(a_transposed),
                                  right,
                                  transposed(b_transposed),
                                  accumulate ? nullptr : &added,
                                  result,
                                  accumulate,
                                  Precision::kBFloat16};
        backend_of(result).gemm(problem);
        EXPECT_EQ(result.to_vector<float>(), expected)
            << m << " x " << n << " x " << k << ", " << a_transposed << b_transposed << accumulate;
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::kernels
