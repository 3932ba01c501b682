#include "ops/embedding.h"

#include <cmath>

#include "base/error.h"
#include "ops/check_ids.h"
#include "ops/embedding_cpu.h"
#include "ops/reference/embedding.h"

namespace dragoman::ops {
namespace {

using tensor::DType;

// output[n] = scale * table[ids[n]]
Tensor gather_rows(const Tensor& table, const Tensor& ids, float scale) {
  const int64_t n_tokens = ids.dim(0), width = table.dim(1);
  Tensor output = Tensor::empty({n_tokens, width}, table.dtype());  // [N, D]
  if (table.dtype() == DType::kFloat64) {
    reference::gather_rows(table, ids, scale, output);
    return output;
  }
  const float* from = table.data<float>();
  const int32_t* id = ids.data<int32_t>();
  for (int64_t n = 0; n < n_tokens; ++n) {
    scaled_row(from + id[n] * table.stride(0), scale, width, output.data<float>() + n * width);
  }
  return output;
}

// table_sum[ids[n]] += scale * rows[n], in the order of n
void scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, float scale, Tensor& table_sum) {
  if (rows.dtype() == DType::kFloat64) {
    reference::scatter_rows_accumulate(rows, ids, scale, table_sum);
    return;
  }
  const float* from = rows.data<float>();
  float* to = table_sum.data<float>();
  const int32_t* id = ids.data<int32_t>();
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    scaled_row_accumulate(from + n * rows.stride(0), scale, rows.dim(1), to + id[n] * table_sum.stride(0));
  }
}

void scatter_into_gradient(const Variable& table, const Tensor& rows, const Tensor& ids, float scale) {
  if (!table.requires_grad()) {
    return;
  }
  auto [gradient, accumulate] = table.grad_target();
  if (!accumulate) {
    gradient.zero();
  }
  scatter_rows_accumulate(rows, ids, scale, gradient);
}

Variable lookup(const Variable& table, const Tensor& ids, float scale, const char* op, const char* table_name) {
  check_float(table.value(), op, table_name);
  tensor::check_matrix(table.value(), table.dtype(), op, table_name);
  check_ids(ids, ids.size(), table.dim(0), op, "ids");
  return autograd::record(op, gather_rows(table.value(), ids, scale), {&table},
                          [table, ids, scale](const Tensor& grad_output) {
                            scatter_into_gradient(table, grad_output, ids, scale);  // of gather_rows
                          });
}

}  // namespace

Variable embedding(const Variable& table, const Tensor& ids, float scale) {
  return lookup(table, ids, scale, "embedding", "table");
}

Variable select_rows(const Variable& x, const Tensor& ids) {
  return lookup(x, ids, 1.0F, "select_rows", "x");
}

Variable add_positions(const Variable& x, const Variable& table, const Tensor& positions) {
  constexpr const char* kOp = "add_positions";
  check_float(x.value(), kOp, "x");
  tensor::check_matrix(x.value(), x.dtype(), kOp, "x");
  tensor::check_matrix(table.value(), x.dtype(), kOp, "table");
  base::check_argument(table.dim(1) == x.dim(1), "add_positions: table has width {}, x has width {}; must be equal",
                       table.dim(1), x.dim(1));
  check_ids(positions, x.dim(0), table.dim(0), kOp, "positions");
  Tensor output = gather_rows(table.value(), positions, 1.0F);  // [N, D]
  if (x.dtype() == DType::kFloat64) {
    for (int64_t n = 0; n < x.dim(0); ++n) {
      for (int64_t d = 0; d < x.dim(1); ++d) {
        output.data<double>()[n * x.dim(1) + d] += x.value().data<double>()[n * x.value().stride(0) + d];
      }
    }
  } else {
    for (int64_t n = 0; n < x.dim(0); ++n) {
      scaled_row_accumulate(x.value().data<float>() + n * x.value().stride(0), 1.0F, x.dim(1),
                            output.data<float>() + n * x.dim(1));
    }
  }
  return autograd::record(kOp, std::move(output), {&x, &table}, [x, table, positions](const Tensor& grad_output) {
    scatter_into_gradient(table, grad_output, positions, 1.0F);  // of gather_rows
    x.add_grad(grad_output);                                     // of the sum
  });
}

Tensor sinusoidal_positions(int64_t n_positions, int64_t d_model) {
  base::check_argument(n_positions >= 0 && d_model >= 0, "sinusoidal_positions: [{}, {}], sizes must be >= 0",
                       n_positions, d_model);
  Tensor table = Tensor::empty({n_positions, d_model});
  for (int64_t column = 0; column < d_model; ++column) {
    const double exponent = static_cast<double>(column - column % 2) / static_cast<double>(d_model);  // 2i / D
    const double rate = std::pow(10000.0, -exponent);
    for (int64_t position = 0; position < n_positions; ++position) {
      const double angle = static_cast<double>(position) * rate;
      table.data<float>()[position * d_model + column] =
          static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

}  // namespace dragoman::ops
