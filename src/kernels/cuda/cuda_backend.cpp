#include "kernels/cuda/cuda_backend.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/device_arrays.h"
#include "kernels/cuda/device_group.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/product_parts.h"
#include "kernels/cuda/products.h"

namespace dragoman::kernels::cuda {
namespace {

// An operand of a product, rounded to bfloat16 if it is float32.
class Rounded {
 public:
  Rounded(const AnyMatrix& matrix, const Extent& extent) : matrix_(matrix) {
    if (matrix.is_bfloat16) {
      return;
    }
    constexpr int64_t kAligned = 8;  // rows begin at multiples of 16 bytes
    const int64_t stride = (extent.columns + kAligned - 1) / kAligned * kAligned;
    copy_.emplace(extent.rows * stride);
    matrix_ = {copy_->data(), stride, true};
    convert_rows(matrix, matrix_, extent);
  }
  const AnyMatrix& get() const { return matrix_; }

 private:
  AnyMatrix matrix_;
  std::optional<DeviceArray<BFloat16>> copy_;
};

double reduced(Reduction reduction, const Tensor& x) {
  DeviceArray<double> parts(reduction_parts(x.size())), result(1);
  reduce(reduction, elements_of<float>(x), x.size(), parts.data(), result.data());
  double sum = 0;
  result.read({&sum, 1});
  return sum;
}

}  // namespace

// The bias of a product: cublasLt takes it in the type of the result, the plain kernel in float32.
class CudaBackend::Bias {
 public:
  Bias(const Tensor* bias, bool result_is_bfloat16) : bias_(bias), result_is_bfloat16_(result_is_bfloat16) {}

  const void* of_result() {
    if (bias_ == nullptr) {
      return nullptr;
    }
    return is_bfloat16(*bias_) == result_is_bfloat16_ ? bias_->device_data() : converted<BFloat16>(of_result_);
  }
  const void* in_float32() {
    if (bias_ == nullptr) {
      return nullptr;
    }
    return is_bfloat16(*bias_) ? converted<float>(in_float32_) : bias_->device_data();
  }

 private:
  template <typename T>
  const void* converted(std::optional<DeviceArray<T>>& copy) {
    copy.emplace(bias_->size());
    convert_rows({const_cast<void*>(bias_->device_data()), 0, is_bfloat16(*bias_)},
                 {copy->data(), 0, std::is_same_v<T, BFloat16>}, {1, bias_->size()});
    return copy->data();
  }

  const Tensor* bias_;
  bool result_is_bfloat16_;
  std::optional<DeviceArray<BFloat16>> of_result_;
  std::optional<DeviceArray<float>> in_float32_;
};

CudaBackend::CudaBackend() : library_(std::make_unique<CublasLt>()) {}

CudaBackend::~CudaBackend() = default;

std::string CudaBackend::new_device_group() const {
  return cuda::new_device_group();
}

std::string CudaBackend::device_place() const {
  return cuda::device_place();
}

std::unique_ptr<DeviceMessages> CudaBackend::join_device_group(const std::string& group, int rank, int size) const {
  return cuda::join_device_group(group, rank, size);
}

void CudaBackend::gemm(const GemmProblem& problem) const {
  Product product{any_matrix_of(problem.a),
                  problem.a_transposed(),
                  any_matrix_of(problem.b),
                  problem.b_transposed(),
                  nullptr,
                  any_matrix_of(problem.c),
                  problem.accumulate,
                  problem.c.dim(0),
                  problem.c.dim(1),
                  problem.depth(),
                  problem.activation == Activation::kRelu,
                  problem.rows_alike};
  std::optional<Rounded> a, b;
  if (problem.precision == Precision::kBFloat16) {
    product.a = a.emplace(product.a, extent_of(problem.a)).get();
    product.b = b.emplace(product.b, extent_of(problem.b)).get();
  }
  Bias bias(problem.bias, product.c.is_bfloat16);
  product.bias = bias.of_result();
  multiply(product, bias, 0);
}

void CudaBackend::multiply(const Product& product, Bias& bias, int64_t first_column) const {
  if (const std::optional<ProductParts> parts = parts_of(product)) {
    multiply(parts->most, bias, first_column);
    multiply(parts->rest, bias, first_column + parts->rest_column);
    return;
  }
  if (product.depth == 0 || !library_->multiply(product)) {
    Product plain = product;
    plain.bias = product.bias == nullptr ? nullptr : static_cast<const float*>(bias.in_float32()) + first_column;
    multiply_plainly(plain);
  }
}

void CudaBackend::sum_rows_accumulate(const Tensor& rows, Tensor& sums) const {
  const DeviceArray<float> scratch(column_sum_scratch(extent_of(rows), 1));
  sum_rows(any_matrix_of(rows), extent_of(rows), scratch.data(), elements_of<float>(sums));
}

void CudaBackend::add_in_place(Tensor& sum, const Tensor& part) const {
  if (is_bfloat16(sum)) {
    cuda::add_in_place(elements_of<BFloat16>(sum), elements_of<BFloat16>(part), sum.size());
  } else {
    cuda::add_in_place(elements_of<float>(sum), elements_of<float>(part), sum.size());
  }
}

void CudaBackend::map(ElementMap map, const Tensor& x, Tensor& y) const {
  cuda::map(map, elements_of<float>(x), elements_of<float>(y), x.size());
}

void CudaBackend::fill(double value, Tensor& y) const {
  cuda::fill(elements_of<float>(y), static_cast<float>(value), y.size());
}

void CudaBackend::map_pairs(PairMap map, const Tensor& left, const Tensor& right, Tensor& y) const {
  cuda::map_pairs(map, elements_of<float>(left), left.size() == 1 ? 0 : 1, elements_of<float>(right),
                  right.size() == 1 ? 0 : 1, elements_of<float>(y), y.size());
}

double CudaBackend::sum(const Tensor& x) const {
  return reduced(Reduction::kSum, x);
}

double CudaBackend::sum_of_squares(const Tensor& x) const {
  return reduced(Reduction::kSumOfSquares, x);
}

bool CudaBackend::all_finite(const Tensor& x) const {
  return reduced(Reduction::kNotFinite, x) == 0.0;
}

void CudaBackend::clip_factors(const Tensor& gradients, double clip_norm, Tensor& factors) const {
  const DeviceArray<double> parts(reduction_parts(gradients.size())), squares(1);
  reduce(Reduction::kSumOfSquares, elements_of<float>(gradients), gradients.size(), parts.data(), squares.data());
  cuda::clip_factors(squares.data(), clip_norm, elements_of<double>(factors));
}

void CudaBackend::adam_update(Tensor& weights, const Tensor& grads, Tensor& moment1, Tensor& moment2,
                              const AdamScalars& scalars) const {
  base::check_argument(scalars.step >= 1, "adam_update: step is {}, must be >= 1", scalars.step);
  adam(
      {elements_of<float>(weights), elements_of<float>(grads), elements_of<float>(moment1), elements_of<float>(moment2),
       adam_factors(scalars), scalars.clipping == nullptr ? nullptr : elements_of<double>(*scalars.clipping)},
      weights.size());
}

void CudaBackend::ema_update(Tensor& average, const Tensor& weights, double decay) const {
  ema(elements_of<float>(average), elements_of<float>(weights), static_cast<float>(1.0 - decay), average.size());
}

}  // namespace dragoman::kernels::cuda
