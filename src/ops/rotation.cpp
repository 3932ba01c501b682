#include "ops/rotation.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

// The factor of a frequency in RotationScaling::kLlama3.
double llama3_factor(double frequency, const FrequencyScaling& scaling) {
  const double waves = static_cast<double>(scaling.original_positions) * frequency / (2 * std::numbers::pi);
  if (waves < scaling.low_frequency_factor) {
    return 1 / scaling.factor;
  }
  if (waves > scaling.high_frequency_factor) {
    return 1;
  }
  const double share =
      (waves - scaling.low_frequency_factor) / (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - share) / scaling.factor + share;
}

double scaled(double frequency, const FrequencyScaling& scaling) {
  switch (scaling.kind) {
    case RotationScaling::kLinear:
      return frequency / scaling.factor;
    case RotationScaling::kLlama3:
      return frequency * llama3_factor(frequency, scaling);
    case RotationScaling::kNone:
      break;
  }
  return frequency;
}

void check_table(int64_t n_positions, int64_t d_head, double theta, const FrequencyScaling& scaling) {
  base::check_argument(n_positions >= 0, "rotation_table: n_positions is {}, must be >= 0", n_positions);
  base::check_argument(d_head > 0 && d_head % 2 == 0, "rotation_table: d_head is {}, must be even and positive",
                       d_head);
  base::check_argument(theta > 0, "rotation_table: theta is {}, must be > 0", theta);
  base::check_argument(scaling.kind == RotationScaling::kNone || scaling.factor > 0,
                       "rotation_table: factor is {}, must be > 0", scaling.factor);
  base::check_argument(
      scaling.kind != RotationScaling::kLlama3 ||
          (0 < scaling.low_frequency_factor && scaling.low_frequency_factor < scaling.high_frequency_factor &&
           scaling.original_positions > 0),
      "rotation_table: low_frequency_factor is {}, high_frequency_factor {}, original_positions {}; "
      "must be positive, and the first below the second",
      scaling.low_frequency_factor, scaling.high_frequency_factor, scaling.original_positions);
}

Tensor rotated(const kernels::Rotation& rotation) {
  Tensor y = Tensor::empty(rotation.x.shape(), rotation.x.dtype());  // [N, H*Dh]
  kernels::backend_of(y).rotate(rotation, y);
  return y;
}

}  // namespace

Tensor rotation_table(int64_t n_positions, int64_t d_head, double theta, const FrequencyScaling& scaling) {
  check_table(n_positions, d_head, theta, scaling);
  const int64_t half = d_head / 2;
  std::vector<float> values(static_cast<size_t>(n_positions * d_head));
  for (int64_t i = 0; i < half; ++i) {
    const double exponent = -2 * static_cast<double>(i) / static_cast<double>(d_head);
    const auto frequency = static_cast<float>(scaled(std::pow(theta, exponent), scaling));
    for (int64_t position = 0; position < n_positions; ++position) {
      const float angle = static_cast<float>(position) * frequency;
      float* const row = values.data() + position * d_head;
      row[i] = static_cast<float>(std::cos(static_cast<double>(angle)));
      row[half + i] = static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  }
  return Tensor::from(values, {n_positions, d_head});
}

Variable rotate(const Variable& x, const Tensor& positions, const Tensor& table) {
  const bool narrow = is_bfloat16(x.value());
  if (!narrow) {
    kernels::check_float(x.value(), "rotate", "x");
  }
  tensor::check_matrix(x.value(), x.dtype(), "rotate", "x");
  tensor::check_matrix(table, narrow ? DType::kFloat32 : x.dtype(), "rotate", "table");
  const int64_t width = table.dim(1);
  base::check_argument(width > 0 && width % 2 == 0, "rotate: table has width {}, must be even and positive", width);
  base::check_argument(x.dim(1) % width == 0, "rotate: x has width {}, must be a multiple of the width of table, {}",
                       x.dim(1), width);
  kernels::check_ids(positions, x.dim(0), table.dim(0), "rotate", "positions");
  return autograd::record("rotate", rotated({x.value(), positions, table}), {&x},
                          [x, positions, table](const Tensor& grad_output) {
                            x.add_grad(rotated({grad_output, positions, table, true}));
                          });
}

}  // namespace dragoman::ops
