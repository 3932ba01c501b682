#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "tensor/tensor.h"

namespace dragoman::test_support {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Returns: random numbers, uniform in [-1, 1), that depend on `seed` alone.
inline Tensor random_tensor(const Shape& shape, DType dtype = DType::kFloat64, uint64_t seed = 1) {
  base::Random random(seed);
  std::vector<double> values(static_cast<size_t>(shape.size()));
  std::ranges::generate(values, [&] { return 2.0 * random.uniform() - 1.0; });
  return Tensor::from(values, shape).to(dtype);
}

/// Returns: the numbers rounded to bfloat16, in float32.
inline Tensor rounded(const Tensor& x) {
  return x.to(DType::kBFloat16).to(DType::kFloat32);
}

/// Returns: a view of equal elements whose rows are `extra` elements further apart. It is a column view of a wider
/// matrix, from column `first` on.
inline Tensor strided_copy(const Tensor& matrix, int64_t extra = 5, int64_t first = 2) {
  Tensor wide = Tensor::full({matrix.dim(0), matrix.dim(1) + extra}, 7.0, matrix.dtype());
  Tensor view = wide.columns(first, first + matrix.dim(1));
  view.copy_from(matrix);
  return view;
}

/// Succeeds if every |actual - expected| is at most `tolerance` times the largest |expected| (at least 1e-30).
inline testing::AssertionResult close(const Tensor& actual, const Tensor& expected, double tolerance) {
  if (actual.shape() != expected.shape()) {
    return testing::AssertionFailure() << "shape " << actual.shape().to_string() << ", expected "
                                       << expected.shape().to_string();
  }
  const std::vector<double> seen = actual.to(DType::kFloat64).to_vector<double>();
  const std::vector<double> wanted = expected.to(DType::kFloat64).to_vector<double>();
  double largest = 1e-30;
  for (const double value : wanted) {
    largest = std::max(largest, std::abs(value));
  }
  for (size_t index = 0; index < seen.size(); ++index) {
    if (!(std::abs(seen[index] - wanted[index]) <= tolerance * largest)) {
      return testing::AssertionFailure() << "element " << index << " of " << actual.shape().to_string() << " is "
                                         << seen[index] << ", expected " << wanted[index] << " (tolerance " << tolerance
                                         << " of " << largest << ")";
    }
  }
  return testing::AssertionSuccess();
}

/// Succeeds if type and every bit are equal, for float32 and bfloat16.
inline testing::AssertionResult same_bits(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype() != expected.dtype()) {
    return testing::AssertionFailure() << tensor::dtype_name(actual.dtype()) << ", expected "
                                       << tensor::dtype_name(expected.dtype());
  }
  // Widening loses no bit of bfloat16.
  const auto bits_of = [](const Tensor& x) { return (is_bfloat16(x) ? x.to(DType::kFloat32) : x).to_vector<float>(); };
  const std::vector<float> seen = bits_of(actual), wanted = bits_of(expected);
  for (size_t index = 0; index < std::min(seen.size(), wanted.size()); ++index) {
    if (std::bit_cast<uint32_t>(seen[index]) != std::bit_cast<uint32_t>(wanted[index])) {
      return testing::AssertionFailure() << "element " << index << " of " << actual.shape().to_string() << " is "
                                         << std::hexfloat << seen[index] << ", expected " << wanted[index];
    }
  }
  return seen.size() == wanted.size()
             ? testing::AssertionSuccess()
             : testing::AssertionFailure() << seen.size() << " elements, expected " << wanted.size();
}

}  // namespace dragoman::test_support
