#include "decoding/inspection/inspected_parameter.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "models/model_device.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "tensor/device_scope.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

using tensor::Tensor;

constexpr int64_t kMostNumbers = int64_t{1} << 22;  // that are computed; the reply has a limit of its own

const nn::Parameter& parameter_at(const Inspection& inspection, const std::string& path) {
  const auto& parameters = inspection.model().parameters().parameters();
  const auto found = std::ranges::find(parameters, path, [](const auto& parameter) { return parameter->path; });
  base::check_usage(found != parameters.end(),
                    "inspect: {} is no parameter of this model; `dragoman inspect` lists them, the first is {}", path,
                    parameters.front()->path);
  return **found;
}

// The rows that are meant, each checked.
std::vector<int32_t> chosen_rows(const ParameterRegion& region, int64_t n_rows) {
  std::vector<int32_t> rows = region.rows;
  if (rows.empty()) {
    rows.resize(static_cast<size_t>(n_rows));
    std::iota(rows.begin(), rows.end(), 0);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    base::check_usage(rows[i] >= 0 && rows[i] < n_rows, "inspect: rows[{}] is {}, but {} has {} rows; count from 0", i,
                      rows[i], region.path, n_rows);
  }
  return rows;
}

// [rows, width], each row with a single 1.
Tensor unit_rows(const std::vector<int32_t>& rows, int64_t width) {
  Tensor units = Tensor::zeros({static_cast<int64_t>(rows.size()), width});
  tensor::HostEdit<float> edit(units);
  for (size_t i = 0; i < rows.size(); ++i) {
    edit.span()[i * static_cast<size_t>(width) + static_cast<size_t>(rows[i])] = 1.0F;
  }
  return units;
}

// The rows of a matrix, whether it is kept as it is or packed.
Tensor rows_of(const nn::Parameter& parameter, const std::vector<int32_t>& rows, tensor::Device device) {
  const autograd::NoGrad inference;
  const tensor::DeviceScope scope(device);
  if (parameter.is_matrix_weight && parameter.packed_from == kernels::Transpose::kNo) {
    const autograd::Variable units(unit_rows(rows, parameter.shape[0]));
    return tensor::to_host(ops::linear(units, parameter.weight(), autograd::Variable()).value());
  }
  return tensor::to_host(ops::embedding(parameter.weight(), tensor::host_tensor(rows), 1.0F).value());
}

}  // namespace

Tensor inspect_parameter(const Inspection& inspection, const ParameterRegion& region) {
  const nn::Parameter& parameter = parameter_at(inspection, region.path);
  const bool is_vector = parameter.shape.rank() == 1;
  const int64_t n_rows = is_vector ? 1 : parameter.shape[0];
  const int64_t n_columns = parameter.shape[is_vector ? 0 : 1];
  const int64_t begin = region.first_column, end = region.end_column == 0 ? n_columns : region.end_column;
  base::check_usage(begin >= 0 && begin < end && end <= n_columns,
                    "inspect: columns {} to {}, but {} has {}; count from 0", begin, end, region.path, n_columns);
  const std::vector<int32_t> rows = chosen_rows(region, n_rows);
  const int64_t numbers = static_cast<int64_t>(rows.size()) * n_columns;
  base::check_usage(numbers <= kMostNumbers,
                    "inspect: {} rows of {} are {} numbers, at most {} can be looked into; name fewer rows",
                    rows.size(), region.path, numbers, kMostNumbers);
  if (is_vector) {
    const Tensor row = tensor::to_host(parameter.variable.value()).to(tensor::DType::kFloat32).reshape({1, n_columns});
    return row.columns(begin, end).clone().reshape({end - begin});
  }
  return rows_of(parameter, rows, models::device_of(inspection.model()))
      .to(tensor::DType::kFloat32)
      .columns(begin, end)
      .clone();
}

}  // namespace dragoman::decoding
