#include "kernels/cpu/gemm/packed_matrix.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernels/cpu/gemm/panels_cpu.h"
#include "kernels/cpu/gemm/team_product.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;

Tensor side_by_side(std::span<const Tensor> weights) {
  base::check_argument(!weights.empty(), "packed_matrix: no weights to concatenate");
  int64_t columns = 0;
  for (size_t index = 0; index < weights.size(); ++index) {
    tensor::check_matrix(weights[index], DType::kFloat32, "packed_matrix", "weight");
    base::check_argument(weights[index].dim(0) == weights[0].dim(0),
                         "packed_matrix: weight {} has {} rows, weight 0 has {}", index, weights[index].dim(0),
                         weights[0].dim(0));
    columns += weights[index].dim(1);
  }
  const Tensor joined = Tensor::empty({weights[0].dim(0), columns});  // [K, N1 + N2 + ...]
  int64_t begin = 0;
  for (const Tensor& weight : weights) {
    joined.columns(begin, begin + weight.dim(1)).copy_from(weight);
    begin += weight.dim(1);
  }
  return joined;
}

// How the elements of column n of W lie in a weight stored [K, N] or [N, K].
struct ColumnWalk {
  ColumnWalk(const Tensor& weight, Transpose transpose)
      : depth(weight.dim(transpose == Transpose::kYes ? 1 : 0)),
        columns(weight.dim(transpose == Transpose::kYes ? 0 : 1)),
        along(transpose == Transpose::kYes ? 1 : columns),
        across(transpose == Transpose::kYes ? depth : 1) {}
  int64_t depth, columns, along, across;
};

void take_parts(const Tensor& y, const TakePart& take) {
  for (int64_t column = 0; column < y.dim(1); column += kPartColumns) {
    take(0, column, y.columns(column, std::min(column + kPartColumns, y.dim(1))));
  }
}

}  // namespace

QuantisedWeight quantise(const Tensor& weight, Transpose transpose) {
  tensor::check_matrix(weight, DType::kFloat32, "quantise", "weight");
  base::check_argument(weight.is_contiguous(), "quantise: weight must be contiguous");
  const ColumnWalk walk(weight, transpose);
  QuantisedWeight rounded{Tensor::empty(weight.shape(), DType::kInt8), Tensor::empty({walk.columns})};
  for (int64_t column = 0; column < walk.columns; ++column) {
    const float* from = weight.data<float>() + column * walk.across;
    float largest = 0;
    for (int64_t k = 0; k < walk.depth; ++k) {
      largest = std::max(largest, std::abs(from[k * walk.along]));
    }
    const float scale = largest / 127.0F, inverse_scale = scale > 0 ? 1.0F / scale : 0.0F;
    rounded.scales.data<float>()[column] = scale;
    auto* to = rounded.values.data<int8_t>() + column * walk.across;
    for (int64_t k = 0; k < walk.depth; ++k) {
      to[k * walk.along] = static_cast<int8_t>(std::nearbyint(from[k * walk.along] * inverse_scale));
    }
  }
  return rounded;
}

Tensor dequantise(const QuantisedWeight& weight, Transpose transpose) {
  const ColumnWalk walk(weight.values, transpose);
  Tensor values = Tensor::empty(weight.values.shape());
  for (int64_t column = 0; column < walk.columns; ++column) {
    const auto* from = weight.values.data<int8_t>() + column * walk.across;
    float* to = values.data<float>() + column * walk.across;
    for (int64_t k = 0; k < walk.depth; ++k) {
      to[k * walk.along] = static_cast<float>(from[k * walk.along]) * weight.scales.data<float>()[column];
    }
  }
  return values;
}

PackedMatrix::PackedMatrix(int64_t rows, int64_t columns, Precision precision)
    : rows_(rows),
      columns_(columns),
      precision_(precision),
      kernel_(product_kernel(precision)),
      panels_{Tensor::empty({panel_cells(rows, columns, kernel_)}), {}, {}} {
  if (precision == Precision::kInt8) {
    panels_.scales = Tensor::empty({panel_cells(1, columns, ProductKernel::kFloat32)});
    panels_.starts = Tensor::empty({panel_cells(1, columns, ProductKernel::kFloat32)}, DType::kInt32);
  }
}

PackedMatrix::PackedMatrix(const Tensor& weight, Transpose transpose, Precision precision)
    : PackedMatrix(weight.rank() == 2 ? weight.dim(transpose == Transpose::kYes ? 1 : 0) : 0,
                   weight.rank() == 2 ? weight.dim(transpose == Transpose::kYes ? 0 : 1) : 0, precision) {
  pack(weight, transpose, 0, panels());
}

PackedMatrix PackedMatrix::concatenate(std::span<const Tensor> weights) {
  return PackedMatrix(side_by_side(weights));
}

PackedMatrix PackedMatrix::rounded(const PackedMatrix& matrix) {
  base::check_argument(matrix.precision_ == Precision::kFloat32, "packed_matrix: rounded from {}, must be float32",
                       name_of(matrix.precision_));
  PackedMatrix result(matrix.rows_, matrix.columns_, Precision::kInt8);
  pack_rounded_panels(matrix.panels_, {matrix.rows_, matrix.columns_}, result.kernel_, result.panels_);
  return result;
}

int64_t PackedMatrix::panels() const {
  return (columns_ + panel_columns() - 1) / panel_columns();
}

void PackedMatrix::pack(const Tensor& weight, Transpose transpose, int64_t begin, int64_t end) {
  tensor::check_matrix(weight, DType::kFloat32, "packed_matrix", "weight");
  const bool transposed = transpose == Transpose::kYes;
  tensor::check_shape(weight, transposed ? tensor::Shape{columns_, rows_} : tensor::Shape{rows_, columns_},
                      "packed_matrix", "weight");
  base::check_argument(0 <= begin && begin <= end && end <= panels(),
                       "packed_matrix: panels {} to {} requested, there are {}", begin, end, panels());
  pack_panels(weight, transpose, kernel_, {begin, end}, panels_);
}

void PackedMatrix::pack(const QuantisedWeight& weight, Transpose transpose, int64_t begin, int64_t end) {
  tensor::check_matrix(weight.values, DType::kInt8, "packed_matrix", "values");
  const bool transposed = transpose == Transpose::kYes;
  tensor::check_shape(weight.values, transposed ? tensor::Shape{columns_, rows_} : tensor::Shape{rows_, columns_},
                      "packed_matrix", "values");
  tensor::check_shape(weight.scales, {columns_}, "packed_matrix", "scales");
  base::check_argument(precision_ == Precision::kInt8, "packed_matrix: int8 values for a matrix of {}, must be int8",
                       name_of(precision_));
  base::check_argument(0 <= begin && begin <= end && end <= panels(),
                       "packed_matrix: panels {} to {} requested, there are {}", begin, end, panels());
  pack_quantised_panels(weight, transpose, kernel_, {begin, end}, panels_);
}

void PackedMatrix::unpack_column(int64_t column, float* to) const {
  base::check_argument(0 <= column && column < columns_, "packed_matrix: column {} requested, there are {}", column,
                       columns_);
  unpack_panel_column(panels_, kernel_, {rows_, columns_}, column, to);
}

void PackedMatrix::multiply(const Tensor& x, const PackedEpilogue& epilogue, Tensor& y) const {
  check(x, epilogue, y);
  if (y.size() > 0) {
    const PanelProduct product{x, panels_, kernel_, epilogue, false};
    multiply_with_team({&product, 1}, {&y, 1});
  }
}

void PackedMatrix::multiply_each(const Tensor& x, std::span<ProductOfSame> products) {
  for (const ProductOfSame& product : products) {
    product.matrix->check(x, product.epilogue, product.y);
    base::check_argument(product.matrix->kernel_ == products.front().matrix->kernel_,
                         "packed_matrix: products of {} and {} together; precisions must be equal",
                         name_of(product.matrix->precision_), name_of(products.front().matrix->precision_));
  }
  if (x.dim(0) > 0 && !products.empty()) {
    std::vector<PanelProduct> all;
    std::vector<Tensor> results;
    for (const ProductOfSame& product : products) {
      all.push_back({x, product.matrix->panels_, product.matrix->kernel_, product.epilogue, false});
      results.push_back(product.y);
    }
    multiply_with_team(all, results);
  }
}

void PackedMatrix::multiply_accumulate(const Tensor& x, Tensor& y) const {
  check(x, {}, y);
  tensor::check_matrix(y, DType::kFloat32, "packed_matrix", "y");
  if (y.size() > 0) {
    multiply_panels({x, panels_, kernel_, {}, true}, y);
  }
}

void PackedMatrix::multiply_rows(const Tensor& x, int64_t first_row, bool accumulate, Tensor& y) const {
  tensor::check_matrix(x, allowed_type(x), "packed_matrix", "x");
  tensor::check_matrix(y, DType::kFloat32, "packed_matrix", "y");
  tensor::check_shape(y, {x.dim(0), columns_}, "packed_matrix", "y");
  base::check_argument(precision_ != Precision::kInt8,
                       "packed_matrix: some rows of an int8 matrix; must be float32 or bfloat16");
  base::check_argument(first_row >= 0 && first_row % kPartColumns == 0 && first_row + x.dim(1) <= rows_,
                       "packed_matrix: rows {} to {} requested, there are {}; the first must be a multiple of {}",
                       first_row, first_row + x.dim(1), rows_, kPartColumns);
  if (y.size() > 0) {
    multiply_panels({x, panels_, kernel_, {}, accumulate, {first_row, rows_}}, y);
  }
}

void PackedMatrix::multiply_columns(const Tensor& x, const Tensor& bias, int64_t first_column, Tensor& y) const {
  tensor::check_matrix(x, allowed_type(x), "packed_matrix", "x");
  tensor::check_matrix(y, allowed_type(y), "packed_matrix", "y");
  base::check_argument(x.dim(1) == rows_, "packed_matrix: x is {}, must have {} columns", x.shape(), rows_);
  const int64_t end = first_column + y.dim(1);
  tensor::check_shape(y, {x.dim(0), y.dim(1)}, "packed_matrix", "y");
  const bool whole = first_column % kPartColumns == 0 && (end % kPartColumns == 0 || end == columns_);
  base::check_argument(
      first_column >= 0 && whole && end <= columns_,
      "packed_matrix: columns {} to {} requested, there are {}; must be whole parts of {}, but the last", first_column,
      end, columns_, kPartColumns);
  const PackedEpilogue epilogue{bias.defined() ? bias.rows(first_column, end) : Tensor(), Activation::kNone};
  if (y.size() > 0) {
    multiply_panels({x, panels_, kernel_, epilogue, false, {}, first_column}, y);
  }
}

float PackedMatrix::multiply_column(const float* x, const Tensor& bias, int64_t column) const {
  base::check_argument(precision_ == Precision::kFloat32,
                       "packed_matrix: one column of a matrix of {}, must be float32", name_of(precision_));
  base::check_argument(0 <= column && column < columns_, "packed_matrix: column {} requested, there are {}", column,
                       columns_);
  return multiply_panel_column(panels_, kernel_, {rows_, columns_}, x, bias.defined() ? bias.data<float>() : nullptr,
                               column);
}

void PackedMatrix::multiply_in_parts(const Tensor& x, const Tensor& bias, const TakePart& take) const {
  tensor::check_matrix(x, DType::kFloat32, "packed_matrix", "x");
  base::check_argument(x.dim(1) == rows_, "packed_matrix: x is {}, must have {} columns", x.shape(), rows_);
  if (bias.defined()) {
    tensor::check_shape(bias, {columns_}, "packed_matrix", "bias");
  }
  const PackedEpilogue epilogue{bias, Activation::kNone};
  if (is_shared_out(x.size() * columns_)) {
    Tensor y = Tensor::empty({x.dim(0), columns_});
    multiply(x, epilogue, y);
    return take_parts(y, take);
  }
  multiply_panels_in_parts({x, panels_, kernel_, epilogue, false}, columns_, take);
}

DType PackedMatrix::allowed_type(const Tensor& matrix) const {
  return is_bfloat16(matrix) && precision_ == Precision::kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
}

void PackedMatrix::check(const Tensor& x, const PackedEpilogue& epilogue, const Tensor& y) const {
  tensor::check_matrix(x, allowed_type(x), "packed_matrix", "x");
  tensor::check_matrix(y, allowed_type(y), "packed_matrix", "y");
  base::check_argument(x.dim(1) == rows_, "packed_matrix: x is {}, must have {} columns", x.shape(), rows_);
  tensor::check_shape(y, {x.dim(0), columns_}, "packed_matrix", "y");
  if (epilogue.bias.defined()) {
    tensor::check_shape(epilogue.bias, {columns_}, "packed_matrix", "bias");
  }
}

}  // namespace dragoman::kernels
