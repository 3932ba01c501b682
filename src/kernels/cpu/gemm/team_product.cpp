#include "kernels/cpu/gemm/team_product.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/team.h"
#include "tensor/arena.h"

namespace dragoman::kernels {
namespace {

// The number of multiplications that takes as long as passing work to a thread and waiting for it.
constexpr int64_t kLeastShared = int64_t{1} << 18;

// Some columns of a product, in whole panels, as a separate product.
struct ColumnPart {
  PanelStorage panels;
  PackedEpilogue epilogue;
  Tensor y;
};

Tensor part_of(const Tensor& vector, int64_t begin, int64_t end) {
  return vector.defined() ? vector.rows(begin, end) : Tensor();
}

// Columns [begin, end) of W: begin is the first of a panel, end that too or the last of the matrix.
ColumnPart part_of(const PanelProduct& product, const Tensor& y, int64_t begin, int64_t end) {
  const int64_t depth = product.x.dim(1);
  const auto cells = [&](int64_t columns) { return panel_cells(depth, columns, product.kernel); };
  const int64_t padded = panel_cells(1, end, ProductKernel::kFloat32);
  return {{part_of(product.panels.cells, cells(begin), cells(end)), part_of(product.panels.scales, begin, padded),
           part_of(product.panels.starts, begin, padded)},
          {part_of(product.epilogue.bias, begin, end), product.epilogue.activation},
          y.columns(begin, end)};
}

// The share of member `rank` of `size`: about equally many panels of each product.
void multiply_share(std::span<const PanelProduct> products, std::span<Tensor> results, int rank, int size) {
  std::vector<ColumnPart> parts;
  std::vector<PanelProduct> shares;
  std::vector<Tensor> ys;
  parts.reserve(products.size());
  for (size_t i = 0; i < products.size(); ++i) {
    const int64_t columns = results[i].dim(1);
    const int64_t panels = (columns + panel_columns() - 1) / panel_columns();
    const auto border = [&](int64_t at) { return std::min(panels * at / size * panel_columns(), columns); };
    if (border(rank) < border(rank + 1)) {
      const ColumnPart& part = parts.emplace_back(part_of(products[i], results[i], border(rank), border(rank + 1)));
      shares.push_back({products[i].x, part.panels, products[i].kernel, part.epilogue, products[i].accumulate});
      ys.push_back(part.y);
    }
  }
  if (!shares.empty()) {
    multiply_panels_of_each(shares, ys);
  }
}

int64_t multiplications(std::span<const PanelProduct> products, std::span<Tensor> results) {
  int64_t sum = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    sum += products[i].x.size() * results[i].dim(1);
  }
  return sum;
}

}  // namespace

bool is_shared_out(int64_t multiplications) {
  return TeamScope::current() != nullptr && multiplications >= kLeastShared;
}

void multiply_with_team(std::span<const PanelProduct> products, std::span<Tensor> results) {
  if (!is_shared_out(multiplications(products, results))) {
    return multiply_panels_of_each(products, results);
  }
  base::WorkerPool& team = *TeamScope::current();
  const std::shared_ptr<tensor::Allocator> arena = tensor::Arena::current();
  const auto share = [&](int rank) {
    const tensor::ArenaScope scratch(arena);
    multiply_share(products, results, rank, team.size());
  };
  team.run(std::cref(share));
}

}  // namespace dragoman::kernels
