#include "ops/embedding.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "kernels/cpu/rows/embedding_cpu.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

// output[n] = scale * table[ids[n]]
Tensor gather_rows(const Tensor& table, const Tensor& ids, float scale) {
  Tensor output = Tensor::empty({ids.dim(0), table.dim(1)}, table.dtype());  // [N, D]
  kernels::backend_of(table).gather_rows(table, ids, scale, output);
  return output;
}

void scatter_into_gradient(const Variable& table, const Tensor& rows, const Tensor& ids, float scale) {
  if (!table.requires_grad()) {
    return;
  }
  auto [gradient, accumulate] = table.grad_target();
  if (!accumulate) {
    gradient.zero();
  }
  kernels::backend_of(rows).scatter_rows_accumulate(rows, ids, scale, gradient);
}

Variable lookup(const Variable& table, const Tensor& ids, float scale, const char* op, const char* table_name) {
  kernels::check_float(table.value(), op, table_name);
  tensor::check_matrix(table.value(), table.dtype(), op, table_name);
  kernels::check_ids(ids, ids.size(), table.dim(0), op, "ids");
  return autograd::record(op, gather_rows(table.value(), ids, scale), {&table},
                          [table, ids, scale](const Tensor& grad_output) {
                            scatter_into_gradient(table, grad_output, ids, scale);  // of gather_rows
                          });
}

// output[n] = scale * table[ids[n]] of a table [V, D] that is packed alone.
Tensor gather_packed_rows(const PackedWeight& table, const Tensor& ids, float scale) {
  const PackedMatrix& columns = table.forward();  // [D, V]
  kernels::check_ids(ids, ids.size(), columns.columns(), "embedding", "ids");
  Tensor output = Tensor::empty({ids.dim(0), columns.rows()});  // [N, D]
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    float* row = output.data<float>() + n * output.stride(0);
    columns.unpack_column(ids.data<int32_t>()[n], row);
    kernels::scaled_row(row, scale, output.dim(1), row);
  }
  return output;
}

// The same of a table in int8 on a device that packs none.
Tensor gather_int8_rows(const kernels::Int8Weight& table, const Tensor& ids, float scale) {
  kernels::check_ids(ids, ids.size(), table.columns(), "embedding", "ids");
  Tensor output = Tensor::empty({ids.dim(0), table.depth});  // [N, D]
  kernels::backend_of(output).gather_int8_rows(table, ids, scale, output);
  return output;
}

// 10000^(-2i / D) for each pair i of columns; an odd D ends with half a pair
std::vector<double> position_rates(int64_t d_model) {
  std::vector<double> rates;
  for (int64_t column = 0; column < d_model; column += 2) {
    rates.push_back(std::pow(10000.0, -static_cast<double>(column) / static_cast<double>(d_model)));
  }
  return rates;
}

// Sine and cosine of position * rate, for each rate.
struct Angles {
  Angles(int64_t position, const std::vector<double>& rates) : sines(rates.size()), cosines(rates.size()) {
    for (size_t i = 0; i < rates.size(); ++i) {
      const double angle = static_cast<double>(position) * rates[i];
      sines[i] = std::sin(angle);
      cosines[i] = std::cos(angle);
    }
  }

  std::vector<double> sines, cosines;
};

// PE(a + b) of those of a and b: sin(a + b) = sin a cos b + cos a sin b, cos(a + b) = cos a cos b - sin a sin b.
void write_sum(const Angles& a, const Angles& b, std::span<float> row) {
  for (size_t i = 0; i < a.sines.size(); ++i) {
    row[2 * i] = static_cast<float>(a.sines[i] * b.cosines[i] + a.cosines[i] * b.sines[i]);
    if (2 * i + 1 < row.size()) {
      row[2 * i + 1] = static_cast<float>(a.cosines[i] * b.cosines[i] - a.sines[i] * b.sines[i]);
    }
  }
}

Tensor host_positions(int64_t n_positions, int64_t d_model) {
  base::check_argument(n_positions >= 0 && d_model >= 0, "sinusoidal_positions: [{}, {}], sizes must be >= 0",
                       n_positions, d_model);
  constexpr int64_t kBlock = 32;  // sines and cosines are computed of every 32nd position and of the offsets 0 to 31
  const std::vector<double> rates = position_rates(d_model);  // [D / 2]
  std::vector<Angles> offsets;
  for (int64_t offset = 0; offset < std::min(kBlock, n_positions); ++offset) {
    offsets.emplace_back(offset, rates);
  }
  Tensor table = Tensor::empty({n_positions, d_model});
  for (int64_t first = 0; first < n_positions; first += kBlock) {
    const Angles start(first, rates);
    for (int64_t position = first; position < std::min(first + kBlock, n_positions); ++position) {
      write_sum(start, offsets[static_cast<size_t>(position - first)],
                table.span<float>().subspan(static_cast<size_t>(position * d_model), static_cast<size_t>(d_model)));
    }
  }
  return table;
}

}  // namespace

Variable embedding(const Weight& table, const Tensor& ids, float scale) {
  if (table.variable.defined()) {
    return lookup(table.variable, ids, scale, "embedding", "table");
  }
  return Variable(table.int8 != nullptr ? gather_int8_rows(*table.int8, ids, scale)
                                        : gather_packed_rows(*table.packed, ids, scale));
}

Variable select_rows(const Variable& x, const Tensor& ids) {
  return lookup(x, ids, 1.0F, "select_rows", "x");
}

Variable add_positions(const Variable& x, const Variable& table, const Tensor& positions) {
  constexpr const char* kOp = "add_positions";
  kernels::check_float(x.value(), kOp, "x");
  tensor::check_matrix(x.value(), x.dtype(), kOp, "x");
  tensor::check_matrix(table.value(), x.dtype(), kOp, "table");
  base::check_argument(table.dim(1) == x.dim(1), "add_positions: table has width {}, x has width {}; must be equal",
                       table.dim(1), x.dim(1));
  kernels::check_ids(positions, x.dim(0), table.dim(0), kOp, "positions");
  Tensor output = gather_rows(table.value(), positions, 1.0F);  // [N, D]
  kernels::backend_of(output).rows_accumulate(x.value(), output);
  return autograd::record(kOp, std::move(output), {&x, &table}, [x, table, positions](const Tensor& grad_output) {
    scatter_into_gradient(table, grad_output, positions, 1.0F);  // of gather_rows
    x.add_grad(grad_output);                                     // of the sum
  });
}

Tensor sinusoidal_positions(int64_t n_positions, int64_t d_model) {
  const auto on_host = [&] {
    const tensor::HostScope scope;
    return host_positions(n_positions, d_model);
  };
  return tensor::to_current_device(on_host());  // [P, D]
}

}  // namespace dragoman::ops
