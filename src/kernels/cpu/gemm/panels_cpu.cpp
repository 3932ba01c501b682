#include "kernels/cpu/gemm/panels_cpu.h"

#include "kernels/cpu/simd/simd.h"

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

HWY_EXPORT(multiply_column);
HWY_EXPORT(multiply_weights);
HWY_EXPORT(multiply_weight_in_parts);

float multiply_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, const float* x,
                            const float* bias, int64_t column) {
  return DRAGOMAN_DISPATCH(multiply_column)(panels, kernel, size, x, bias, column);
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
