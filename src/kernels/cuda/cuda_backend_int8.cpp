#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_arrays.h"
#include "kernels/cuda/int8_products.h"

namespace dragoman::kernels::cuda {
namespace {

Int8Rows rows_of(const Int8Weight& weight) {
  return {elements_of<int8_t>(weight.values), elements_of<float>(weight.scales)};
}

// The sums of a product, for cuBLASLt.
Product sums_of(const Int8Rows& rows, const Int8Weight& weight, int64_t row_count, int32_t* sums) {
  const int64_t padded = weight.padded_depth(), columns = weight.padded_columns();
  return {.a = {const_cast<int8_t*>(rows.values), padded},
          .a_transposed = false,
          .b = {const_cast<void*>(weight.values.device_data()), padded},
          .b_transposed = true,
          .bias = nullptr,
          .c = {sums, columns},
          .accumulate = false,
          .rows = row_count,
          .columns = columns,
          .depth = padded,
          .is_int8 = true};
}

}  // namespace

void CudaBackend::multiply_int8(const Tensor& x, std::span<const Int8Product> products) const {
  if (products.empty()) {
    return;
  }
  const Extent extent = extent_of(x);
  const int64_t padded = products.front().weight.padded_depth();
  const DeviceArray<int8_t> values(extent.rows * padded);
  const DeviceArray<float> scales(extent.rows);
  quantise_rows(matrix_of<float>(x), extent, values.data(), padded, scales.data());
  const Int8Rows rows{values.data(), scales.data()};
  for (const auto& [weight, bias, activation, y] : products) {
    const Int8Rows columns = rows_of(weight);
    const Int8Epilogue epilogue{rows.scales,
                                columns.scales,
                                bias.defined() ? elements_of<float>(bias) : nullptr,
                                activation == Activation::kRelu,
                                matrix_of<float>(y),
                                extent_of(y)};
    if (extent.rows > kFewRows) {
      const DeviceArray<int32_t> sums(extent.rows * weight.padded_columns());
      if (library_->multiply(sums_of(rows, weight, extent.rows, sums.data()))) {
        finish_int8(sums.data(), weight.padded_columns(), epilogue);
        continue;
      }
    }
    cuda::multiply_int8(rows, columns, padded, epilogue);
  }
}

void CudaBackend::gather_int8_rows(const Int8Weight& table, const Tensor& ids, float scale, Tensor& y) const {
  const OnDevice<int32_t> rows(ids);
  cuda::gather_int8_rows(rows_of(table), table.padded_depth(), rows.data(), scale, matrix_of<float>(y), extent_of(y));
}

}  // namespace dragoman::kernels::cuda
