#include "kernels/cpu/gemm/panels_cpu.h"

#include "kernels/cpu/simd/simd.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/panels_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/gemm/gemm_blocks-inl.h"
#include "kernels/cpu/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace {

int64_t columns_of_panel() {
  return kPanelColumns;
}

int64_t cells_of_panels(int64_t depth, int64_t columns, ProductKernel kernel) {
  int64_t cells = 0;
  with_packed_cells_of(kernel, [&](auto format) HWY_ATTR { cells = cells_of<decltype(format)>(depth); });
  return (columns + kLanes - 1) / kLanes * kLanes * cells;
}

// A panel of int8 from W [depth, columns], or from W^T by way of float32 columns side by side.
template <class Cells>
void pack_int8_panel(const float* weight, int64_t stride, bool transposed, int64_t depth, int64_t columns, float* to,
                     const Int8Columns& made) {
  const int64_t width = panel_width(columns);
  Tensor untransposed = transposed ? Tensor::empty({depth, kLanes}) : Tensor();
  for (int64_t j = 0; j < columns; j += kLanes) {
    const int64_t count = std::min(columns - j, kLanes);
    if (transposed) {
      transpose_rows(weight + j * stride, stride, count, depth, kLanes, untransposed.data<float>());
    }
    pack_int8_columns<Cells>(transposed ? untransposed.data<float>() : weight + j, transposed ? kLanes : stride, depth,
                             count, width, to + j, {made.scales + j, made.starts + j});
  }
}

template <class Cells>
void pack(const Tensor& weight, bool transposed, PanelRange range, PanelStorage& panels) {
  float* cells = panels.cells.data<float>();
  const int64_t depth = weight.dim(transposed ? 1 : 0), columns = weight.dim(transposed ? 0 : 1);
  const int64_t stride = weight.stride(0);
  for (int64_t panel = range.begin; panel < range.end; ++panel) {
    const int64_t column = panel * kPanelColumns;
    const int64_t count = std::min(columns - column, kPanelColumns);
    float* to = cells + column * cells_of<Cells>(depth);
    if constexpr (IsInt8<Cells>) {
      pack_int8_panel<Cells>(weight.data<float>() + column * (transposed ? stride : 1), stride, transposed, depth,
                             count, to, {panels.scales.data<float>() + column, panels.starts.data<int32_t>() + column});
    } else if (transposed) {
      pack_panel_transposed<Cells>(weight.data<float>() + column * stride, stride, depth, count, to);
    } else {
      pack_panel<Cells>(weight.data<float>() + column, stride, depth, count, to);
    }
  }
}

void pack_weight(const Tensor& weight, bool transposed, ProductKernel kernel, PanelRange range, PanelStorage& panels) {
  with_packed_cells_of(kernel,
                       [&](auto format) HWY_ATTR { pack<decltype(format)>(weight, transposed, range, panels); });
}

// Four neighbours in k, those beyond the depth 0, as one cell.
HWY_INLINE float joined_values(const int8_t* values, int64_t distance, int64_t left) {
  int8_t four[4] = {0, 0, 0, 0};
  for (int64_t i = 0; i < std::min<int64_t>(left, 4); ++i) {
    four[i] = values[i * distance];
  }
  float cell = 0;
  std::memcpy(&cell, four, sizeof cell);
  return cell;
}

// A panel of int8 from values of which (k, j) is values[k * along + j * across].
template <class Cells>
void pack_values_panel(const int8_t* values, int64_t along, int64_t across, const float* scales, int64_t depth,
                       int64_t columns, float* to, const Int8Columns& made) {
  const int64_t width = panel_width(columns), cells = cells_of<Cells>(depth);
  for (int64_t j = 0; j < width; ++j) {
    int32_t sum = 0;
    for (int64_t k = 0; j < columns && k < depth; ++k) {
      sum += values[k * along + j * across];
    }
    made.starts[j] = -Cells::kOffset * sum;
    made.scales[j] = j < columns ? scales[j] : 0.0F;
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t k = cell * Cells::kDepth;
      to[cell * width + j] =
          j < columns && k < depth ? joined_values(values + k * along + j * across, along, depth - k) : 0.0F;
    }
  }
}

template <class Cells>
void pack_values(const QuantisedWeight& weight, bool transposed, PanelRange range, PanelStorage& panels) {
  if constexpr (IsInt8<Cells>) {
    const int64_t depth = weight.values.dim(transposed ? 1 : 0), columns = weight.values.dim(transposed ? 0 : 1);
    const int64_t stride = weight.values.stride(0), along = transposed ? 1 : stride, across = transposed ? stride : 1;
    for (int64_t panel = range.begin; panel < range.end; ++panel) {
      const int64_t column = panel * kPanelColumns;
      pack_values_panel<Cells>(weight.values.data<int8_t>() + column * across, along, across,
                               weight.scales.data<float>() + column, depth, std::min(columns - column, kPanelColumns),
                               panels.cells.data<float>() + column * cells_of<Cells>(depth),
                               {panels.scales.data<float>() + column, panels.starts.data<int32_t>() + column});
    }
  }
}

void pack_quantised(const QuantisedWeight& weight, bool transposed, ProductKernel kernel, PanelRange range,
                    PanelStorage& panels) {
  with_packed_cells_of(kernel,
                       [&](auto format) HWY_ATTR { pack_values<decltype(format)>(weight, transposed, range, panels); });
}

// Panels of float32 are row-major, as a weight is.
template <class Cells>
void pack_rounded(const PanelStorage& from, PackedSize size, PanelStorage& panels) {
  if constexpr (IsInt8<Cells>) {
    for (int64_t column = 0; column < size.columns; column += kPanelColumns) {
      const int64_t count = std::min(size.columns - column, kPanelColumns);
      pack_int8_panel<Cells>(from.cells.data<float>() + column * size.depth, panel_width(count), false, size.depth,
                             count, panels.cells.data<float>() + column * cells_of<Cells>(size.depth),
                             {panels.scales.data<float>() + column, panels.starts.data<int32_t>() + column});
    }
  }
}

void pack_rounded_weight(const PanelStorage& from, PackedSize size, ProductKernel kernel, PanelStorage& panels) {
  with_packed_cells_of(kernel, [&](auto format) HWY_ATTR { pack_rounded<decltype(format)>(from, size, panels); });
}

template <class Cells>
void unpack(const PanelStorage& panels, PackedSize size, int64_t column, float* to) {
  const int64_t first = column / kPanelColumns * kPanelColumns;
  const int64_t width = panel_width(size.columns - first);
  const float* cell = panels.cells.data<float>() + first * cells_of<Cells>(size.depth) + column - first;
  for (int64_t k = 0; k < size.depth; k += Cells::kDepth, cell += width) {
    const int64_t count = std::min<int64_t>(size.depth - k, Cells::kDepth);
    if constexpr (IsInt8<Cells>) {
      int8_t values[4];
      std::memcpy(values, cell, sizeof values);
      for (int64_t i = 0; i < count; ++i) {
        to[k + i] = static_cast<float>(values[i]) * panels.scales.data<float>()[column];
      }
    } else if constexpr (Cells::kDepth == 2) {
      uint16_t bits[2];
      std::memcpy(bits, cell, sizeof bits);
      for (int64_t i = 0; i < count; ++i) {
        to[k + i] = tensor::to_float({bits[i]});
      }
    } else {
      to[k] = *cell;
    }
  }
}

void unpack_column_of(const PanelStorage& panels, ProductKernel kernel, PackedSize size, int64_t column, float* to) {
  with_packed_cells_of(kernel, [&](auto format) HWY_ATTR { unpack<decltype(format)>(panels, size, column, to); });
}

// Where a column is packed: its first number, its place in the vector of that, and the distance to the next.
struct PlaceOfColumn {
  const float* first;
  int64_t lane, width;
};

// One lane of multiply_tile and store_vector.
float multiply_one(const float* x, const PlaceOfColumn& place, int64_t depth, const float* bias) {
  const hn::CappedTag<float, 1> d;
  auto element = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias);
  for (int64_t begin = 0; begin < depth; begin += kDepthBlock) {
    auto sum = hn::Zero(d);
    for (int64_t k = begin; k < std::min(begin + kDepthBlock, depth); ++k) {
      sum = hn::MulAdd(hn::Set(d, x[k]), hn::LoadU(d, place.first + k * place.width), sum);
    }
    element = begin > 0 || bias != nullptr ? hn::Add(sum, element) : sum;
  }
  return hn::GetLane(element);
}

// The same by tiles, since other instructions round differently. Multiplies the vector of columns that holds this
// column, as a separate panel.
template <class Cells>
float multiply_one_in_tiles(const float* x, const PlaceOfColumn& place, int64_t depth, const float* bias) {
  const Tag d;
  Tensor panel = Tensor::empty({depth, kLanes});
  for (int64_t k = 0; k < depth; ++k) {
    hn::StoreU(hn::LoadU(d, place.first - place.lane + k * place.width), d, panel.data<float>() + k * kLanes);
  }
  const StoredOperand left{x, depth, false};
  LeftScratch<Cells> scratch(false, 1, depth);
  RightPanels right{panel.data<float>(), depth, 0};
  const float* first_bias = bias == nullptr ? nullptr : bias - place.lane;
  float elements[kLanes] = {};
  int64_t begin = 0;
  do {  // at least once: no depth yields the bias
    const int64_t part = std::min(depth - begin, block_depth<Cells>());
    right.first = begin;
    multiply_block<Cells>({left.at(0, begin), 1, part}, right,
                          {elements, kLanes, place.lane + 1, begin == 0 ? first_bias : nullptr, begin > 0}, scratch);
    begin += part;
  } while (begin < depth);
  return elements[place.lane];
}

float multiply_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, const float* x,
                      const float* bias, int64_t column) {
  const int64_t panel = column / kPanelColumns * kPanelColumns, in_panel = column - panel;
  const float* const its_bias = bias == nullptr ? nullptr : bias + column;
  float element = 0;
  with_cells_of(kernel, [&](auto format) HWY_ATTR {
    using Cells = decltype(format);
    const PlaceOfColumn place{panels.cells.data<float>() + panel * size.depth + in_panel, in_panel % kLanes,
                              panel_width(size.columns - panel)};
    if constexpr (IsSplit<Cells>) {
      element = multiply_one_in_tiles<Cells>(x, place, size.depth, its_bias);
    } else if constexpr (Cells::kDepth == 1) {
      element = multiply_one(x, place, size.depth, its_bias);
    }
  });
  return element;
}

// The panels from `column` on, the first of a panel.
template <class Cells>
RightPanels panels_from(const PanelStorage& panels, int64_t depth, int64_t column) {
  const int64_t cells = cells_of<Cells>(depth);
  RightPanels right{panels.cells.data<float>() + column * cells, cells, 0};
  if constexpr (IsInt8<Cells>) {
    right.column_scales = panels.scales.data<float>() + column;
    right.column_starts = panels.starts.data<int32_t>() + column;
  }
  return right;
}

const float* bias_of(const PanelProduct& product) {
  return product.epilogue.bias.defined() ? product.epilogue.bias.data<float>() : nullptr;
}

// Rows row .. row + rows of the product into `to`, its first row.
// @param next_row  the first of the rows of x that are multiplied next
template <class Cells>
void multiply_rows(const PanelProduct& product, int64_t row, int64_t rows, int64_t next_row,
                   LeftScratch<Cells>& scratch, Tensor to) {
  const int64_t depth = product.x.dim(1), columns = to.dim(1);
  const StoredOperand left = StoredOperand::of(product.x, false);
  const float* bias = bias_of(product);
  RightPanels right =
      panels_from<Cells>(product.panels, product.rows.all > 0 ? product.rows.all : depth, product.first_column);
  scratch.measure(left.at(row, 0), rows, depth);
  const auto go_to = [&](int64_t k) { right.first = (product.rows.first + k) / Cells::kDepth; };
  const int64_t next_rows = rows_of_block<Cells>(product.x.dim(0) - next_row);
  const auto left_at = [&](int64_t first, int64_t count, int64_t begin) {
    return LeftBlock{left.at(first, begin), count, std::min(depth - begin, block_depth<Cells>())};
  };
  int64_t begin = 0;
  do {  // at least once: no depth yields the bias
    const LeftBlock block = left_at(row, rows, begin);
    const int64_t end = begin + block.depth;
    const LeftBlock next = end < depth ? left_at(row, rows, end) : left_at(next_row, next_rows, 0);
    go_to(end < depth ? end : 0);
    right.after = next.rows > 0 && next.depth == block.depth ? right.first_panel(columns) : NextPanel();
    go_to(begin);
    multiply_block<Cells>(
        block, right,
        {to.data<float>(), to.stride(0), columns, begin == 0 ? bias : nullptr, product.accumulate || begin > 0},
        scratch, next);
    begin = end;
  } while (begin < depth);
}

template <class Element>
void activate(const PackedEpilogue& epilogue, Tensor rows) {
  for (int64_t row = 0; row < rows.dim(0); ++row) {
    Element* values = rows.data<Element>() + row * rows.stride(0);
    activate_row(values, rows.dim(1), epilogue.activation, values);
  }
}

void activate_rows_of(const PackedEpilogue& epilogue, Tensor rows) {
  if (epilogue.activation != Activation::kNone) {
    is_bfloat16(rows) ? activate<BFloat16>(epilogue, rows) : activate<float>(epilogue, rows);
  }
}

// Rows of float32 into rows of bfloat16.
void round_rows(const Tensor& from, Tensor to) {
  for (int64_t row = 0; row < to.dim(0); ++row) {
    map_row(from.data<float>() + row * from.stride(0), to.dim(1), to.data<BFloat16>() + row * to.stride(0),
            [](RowVector v) HWY_ATTR { return v; });
  }
}

// All columns of `y`.
Result result_in(Tensor y, const float* bias, bool accumulate) {
  if (is_bfloat16(y)) {
    return {nullptr, 0, y.dim(1), bias, accumulate, y.data<BFloat16>(), y.stride(0)};
  }
  return {y.data<float>(), y.stride(0), y.dim(1), bias, accumulate};
}

// Rows row .. row + rows of products of the same x, whose depth is one block.
template <class Cells>
void multiply_rows_of_each(std::span<const PanelProduct> products, int64_t row, int64_t rows,
                           LeftScratch<Cells>& scratch, std::span<Tensor> results) {
  const Tensor& x = products.front().x;
  const int64_t depth = x.dim(1);
  const StoredOperand left = StoredOperand::of(x, false);
  const int64_t next_row = row + rows, rows_left = x.dim(0) - next_row;
  scratch.measure(left.at(row, 0), rows, depth);
  AfterBlock after;
  if (rows_left > 0) {
    after.left = {left.at(next_row, 0), rows_of_block<Cells>(rows_left), depth};
  }
  for (const Tensor& result : results) {
    after.columns += result.dim(1);
  }
  TileArguments tile = placed_block({left.at(row, 0), rows, depth}, scratch, after);
  RowsAhead ahead = rows_after<Cells>(left, next_row, x.dim(0), depth);
  for (size_t i = 0; i < products.size(); ++i) {
    const Tensor y = results[i].rows(row, next_row);
    if (i + 1 == products.size()) {
      ahead.spread(tile_steps<Cells>(rows, y.dim(1), tile.depth));
      tile.rows_ahead[0] = &ahead;
    }
    RightPanels right = panels_from<Cells>(products[i].panels, depth, products[i].first_column);
    if (i + 1 < products.size() || rows_left > 0) {
      const size_t next = (i + 1) % products.size();  // after the last one the first, with other rows
      right.after = panels_from<Cells>(products[next].panels, depth, products[next].first_column)
                        .first_panel(results[next].dim(1));
    }
    multiply_placed<Cells>(tile, false, rows, right, result_in(y, bias_of(products[i]), products[i].accumulate),
                           scratch);
  }
}

template <class Cells>
void multiply_each(std::span<const PanelProduct> products, std::span<Tensor> results) {
  const Tensor& x = products.front().x;
  LeftScratch<Cells> scratch(false, x.dim(0), x.dim(1));
  const bool placed_once = x.dim(1) <= block_depth<Cells>() && products.front().rows.all == 0;
  for (int64_t row = 0, end = 0; row < x.dim(0); row = end) {
    end = row + rows_of_block<Cells>(x.dim(0) - row);
    if (placed_once) {
      multiply_rows_of_each<Cells>(products, row, end - row, scratch, results);
    }
    for (size_t i = 0; i < products.size(); ++i) {
      const Tensor y = results[i].rows(row, end);
      if (!placed_once) {
        const bool rounds = is_bfloat16(y);
        const Tensor sums = rounds ? Tensor::empty(y.shape()) : y;
        multiply_rows<Cells>(products[i], row, end - row, i + 1 < products.size() ? row : end, scratch, sums);
        if (rounds) {
          round_rows(sums, y);
        }
      }
      activate_rows_of(products[i].epilogue, y);
    }
  }
}

// Rows row .. row + rows of the product, a part of the columns after the other.
template <class Cells>
void multiply_rows_in_parts(const PanelProduct& product, int64_t row, int64_t rows, int64_t columns,
                            LeftScratch<Cells>& scratch, Tensor& part, const TakePart& take) {
  const int64_t depth = product.x.dim(1);
  const StoredOperand left = StoredOperand::of(product.x, false).at(row, 0);
  scratch.measure(left, rows, depth);
  const bool one_block = depth <= block_depth<Cells>();
  TileArguments tile = placed_block({left, rows, std::min(depth, block_depth<Cells>())}, scratch);
  for (int64_t column = 0; column < columns; column += kPartColumns) {
    const int64_t width = std::min(columns - column, kPartColumns);
    RightPanels right = panels_from<Cells>(product.panels, depth, column);
    if (one_block && column + width < columns) {
      right.after = panels_from<Cells>(product.panels, depth, column + width).first_panel(columns - column - width);
    }
    int64_t begin = 0;
    do {
      const int64_t some = std::min(depth - begin, block_depth<Cells>());
      if (!one_block) {
        tile = placed_block({left.at(0, begin), rows, some}, scratch);
      }
      right.first = begin / Cells::kDepth;
      const float* bias = begin == 0 && bias_of(product) != nullptr ? bias_of(product) + column : nullptr;
      multiply_placed<Cells>(tile, false, rows, right, {part.data<float>(), kPartColumns, width, bias, begin > 0},
                             scratch);
      begin += some;
    } while (begin < depth);
    take(row, column, part.rows(0, rows).columns(0, width));
  }
}

template <class Cells>
void multiply_parts(const PanelProduct& product, int64_t columns, const TakePart& take) {
  static_assert(kPartColumns % kPanelColumns == 0);
  static_assert(IsInt8<Cells> || kPartColumns % (Cells::kDepth * Cells::kMultiple) == 0,
                "a part of the depth begins with whole cells");
  const int64_t rows = product.x.dim(0);
  LeftScratch<Cells> scratch(false, rows, product.x.dim(1));
  Tensor part = Tensor::empty({std::min(rows, most_rows<Cells>()), kPartColumns});
  for (int64_t row = 0, count = 0; row < rows; row += count) {
    count = rows_of_block<Cells>(rows - row);
    multiply_rows_in_parts<Cells>(product, row, count, columns, scratch, part, take);
  }
}

void multiply_weight_in_parts(const PanelProduct& product, int64_t columns, const TakePart& take) {
  with_packed_cells_of(product.kernel,
                       [&](auto cells) HWY_ATTR { multiply_parts<decltype(cells)>(product, columns, take); });
}

void multiply_weights(std::span<const PanelProduct> products, std::span<Tensor> results) {
  with_packed_cells_of(products.front().kernel,
                       [&](auto cells) HWY_ATTR { multiply_each<decltype(cells)>(products, results); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(columns_of_panel);
HWY_EXPORT(cells_of_panels);
HWY_EXPORT(pack_weight);
HWY_EXPORT(pack_quantised);
HWY_EXPORT(pack_rounded_weight);
HWY_EXPORT(unpack_column_of);
HWY_EXPORT(multiply_column);
HWY_EXPORT(multiply_weights);
HWY_EXPORT(multiply_weight_in_parts);

int64_t panel_columns() {
  return DRAGOMAN_DISPATCH(columns_of_panel)();
}

int64_t panel_cells(int64_t depth, int64_t columns, ProductKernel kernel) {
  return DRAGOMAN_DISPATCH(cells_of_panels)(depth, columns, kernel);
}

void pack_panels(const Tensor& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                 PanelStorage& panels) {
  DRAGOMAN_DISPATCH(pack_weight)(weight, transpose == Transpose::kYes, kernel, range, panels);
}

void pack_quantised_panels(const QuantisedWeight& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                           PanelStorage& panels) {
  DRAGOMAN_DISPATCH(pack_quantised)(weight, transpose == Transpose::kYes, kernel, range, panels);
}

void pack_rounded_panels(const PanelStorage& from, PackedSize size, ProductKernel kernel, PanelStorage& panels) {
  DRAGOMAN_DISPATCH(pack_rounded_weight)(from, size, kernel, panels);
}

float multiply_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, const float* x,
                            const float* bias, int64_t column) {
  return DRAGOMAN_DISPATCH(multiply_column)(panels, kernel, size, x, bias, column);
}

void unpack_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, int64_t column, float* to) {
  DRAGOMAN_DISPATCH(unpack_column_of)(panels, kernel, size, column, to);
}

void multiply_panels(const PanelProduct& product, Tensor& y) {
  multiply_panels_of_each({&product, 1}, {&y, 1});
}

void multiply_panels_of_each(std::span<const PanelProduct> products, std::span<Tensor> results) {
  DRAGOMAN_DISPATCH(multiply_weights)(products, results);
}

void multiply_panels_in_parts(const PanelProduct& product, int64_t columns, const TakePart& take) {
  DRAGOMAN_DISPATCH(multiply_weight_in_parts)(product, columns, take);
}

}  // namespace dragoman::kernels
#endif
