#include "kernels/cpu/gemm/column_subset.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "kernels/cpu/gemm/team_product.h"

namespace dragoman::kernels {
namespace {

int64_t whole_panels(int64_t columns) {
  return (columns + panel_columns() - 1) / panel_columns() * panel_columns();
}

int64_t cells_of_column(const PackedMatrix& matrix) {
  return panel_cells(matrix.rows(), panel_columns(), matrix.kernel()) / panel_columns();
}

// A tensor of `size` elements that begins as `old` does; the rest is 0, since products read all of a panel.
Tensor grown(const Tensor& old, int64_t size, tensor::DType dtype) {
  Tensor larger = Tensor::zeros({size}, dtype);
  if (old.defined()) {
    std::memcpy(larger.raw_data(), old.raw_data(), static_cast<size_t>(old.size()) * sizeof(float));
  }
  return larger;
}

// Where a column lies in a packed matrix.
struct PackedColumn {
  const float* first;  // its first cell
  int64_t stride;      // cells from one to the next
};

PackedColumn packed_column(const PackedMatrix& matrix, int64_t cells, int64_t column) {
  const int64_t first = column / panel_columns() * panel_columns();
  const int64_t in_panel = std::min(panel_columns(), matrix.columns() - first);
  const int64_t width = panel_cells(1, in_panel, ProductKernel::kFloat32);
  return {matrix.storage().cells.data<float>() + first * cells + column - first, width};
}

}  // namespace

void ColumnSubset::append(std::span<const int32_t> columns) {
  for (const int32_t column : columns) {
    base::check_argument(column >= 0 && column < whole_.columns(), "column_subset: column {} requested, there are {}",
                         column, whole_.columns());
  }
  reserve(size_ + static_cast<int64_t>(columns.size()));
  while (!columns.empty()) {
    const int64_t left_in_panel = panel_columns() - size_ % panel_columns();
    const size_t count = std::min(columns.size(), static_cast<size_t>(left_in_panel));
    copy_to_panel(columns.first(count), size_);
    size_ += static_cast<int64_t>(count);
    columns = columns.subspan(count);
  }
}

void ColumnSubset::reserve(int64_t columns) {
  if (columns <= room_) {
    return;
  }
  const int64_t room = whole_panels(std::max(columns, 2 * size_));
  panels_.cells = grown(panels_.cells, room * cells_of_column(whole_), tensor::DType::kFloat32);
  if (whole_.precision() == Precision::kInt8) {
    panels_.scales = grown(panels_.scales, room, tensor::DType::kFloat32);
    panels_.starts = grown(panels_.starts, room, tensor::DType::kInt32);
  }
  if (bias_.defined()) {
    subset_bias_ = grown(subset_bias_, room, tensor::DType::kFloat32);
  }
  room_ = room;
}

// Columns of the whole to `to`, `to` + 1, ... of one panel, a line of cells after the other.
void ColumnSubset::copy_to_panel(std::span<const int32_t> columns, int64_t to) {
  const int64_t cells = cells_of_column(whole_);
  const int64_t panel = to / panel_columns() * panel_columns();
  float* line = panels_.cells.data<float>() + panel * cells + to - panel;
  std::vector<PackedColumn> from;
  for (const int32_t column : columns) {
    from.push_back(packed_column(whole_, cells, column));
  }
  for (int64_t cell = 0; cell < cells; ++cell, line += panel_columns()) {
    for (size_t i = 0; i < from.size(); ++i) {
      std::memcpy(line + i, from[i].first + cell * from[i].stride, sizeof(float));
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto at = static_cast<size_t>(to) + i;
    if (whole_.precision() == Precision::kInt8) {
      panels_.scales.data<float>()[at] = whole_.storage().scales.data<float>()[columns[i]];
      panels_.starts.data<int32_t>()[at] = whole_.storage().starts.data<int32_t>()[columns[i]];
    }
    if (bias_.defined()) {
      subset_bias_.data<float>()[at] = bias_.data<float>()[columns[i]];
    }
  }
}

Tensor ColumnSubset::multiply(const Tensor& x) const {
  tensor::check_matrix(x, tensor::DType::kFloat32, "column_subset", "x");
  base::check_argument(x.dim(1) == whole_.rows(), "column_subset: x is {}, must have {} columns", x.shape(),
                       whole_.rows());
  Tensor y = Tensor::empty({x.dim(0), whole_panels(size_)});  // [R, at least size]
  if (y.size() > 0) {
    const PackedEpilogue epilogue{subset_bias_, Activation::kNone};
    const PanelProduct product{x, panels_, whole_.kernel(), epilogue, false};
    multiply_with_team({&product, 1}, {&y, 1});
  }
  return y;
}

}  // namespace dragoman::kernels
