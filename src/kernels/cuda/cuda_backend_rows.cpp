#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_arrays.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/losses.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/rows.h"
#include "tensor/transfer.h"

namespace dragoman::kernels::cuda {
namespace {

Curve curve_of(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return Curve::kRelu;
    case Activation::kGelu:
      return Curve::kGelu;
    case Activation::kSilu:
      return Curve::kSilu;
    case Activation::kGeluTanh:
      return Curve::kGeluTanh;
    case Activation::kReluSquared:
      return Curve::kReluSquared;
    case Activation::kTanh:
      return Curve::kTanh;
    case Activation::kSigmoid:
      return Curve::kSigmoid;
    case Activation::kNone:
      break;
  }
  return Curve::kNone;
}

// Rows of a batch sorted by the table row that they are added to: a counting sort, which keeps their order.
struct SortedRows {
  std::vector<int32_t> ids, starts, rows;  // `ids` may end with some that have no rows
  size_t count = 0;                        // of the ids that have rows

  SortedRows(std::span<const int32_t> of_rows, int64_t table_rows) : rows(of_rows.size()) {
    std::vector<int32_t> ends(static_cast<size_t>(table_rows) + 1);
    for (const int32_t id : of_rows) {
      ++ends[static_cast<size_t>(id) + 1];
    }
    for (size_t id = 0; id < static_cast<size_t>(table_rows); ++id) {
      if (ends[id + 1] > 0) {
        ids.push_back(static_cast<int32_t>(id));
        starts.push_back(ends[id]);
      }
      ends[id + 1] += ends[id];
    }
    count = ids.size();
    ids.resize(std::min(of_rows.size(), static_cast<size_t>(table_rows)));
    starts.resize(ids.size() + 1, static_cast<int32_t>(of_rows.size()));
    for (size_t row = 0; row < of_rows.size(); ++row) {
      rows[static_cast<size_t>(ends[static_cast<size_t>(of_rows[row])]++)] = static_cast<int32_t>(row);
    }
  }
};

// The same in the memory of the device.
struct SortedOnDevice {
  SortedOnDevice(const SortedRows& sorted, int64_t of_table)
      : ids(std::span<const int32_t>(sorted.ids)),
        starts(std::span<const int32_t>(sorted.starts)),
        rows(std::span<const int32_t>(sorted.rows)),
        count(static_cast<int64_t>(sorted.count)),
        most(static_cast<int64_t>(sorted.ids.size())),
        table_rows(of_table) {}

  static void refill(const Tensor& ids_now, const SortedOnDevice& kept) {
    const SortedRows sorted(ids_now.span<int32_t>(), kept.table_rows);
    kept.ids.write(sorted.ids);
    kept.starts.write(sorted.starts);
    kept.rows.write(sorted.rows);
    kept.count = static_cast<int64_t>(sorted.count);
  }

  DeviceArray<int32_t> ids, starts, rows;
  mutable int64_t count;  // of the ids that have rows
  int64_t most;           // of other ids as well
  int64_t table_rows;
};

Norm norm_of(const LayerNormForward& norm) {
  return {extent_of(norm.x),
          matrix_of<float>(norm.x),
          {},
          {},
          {},
          elements_of<float>(norm.gain),
          norm.bias.defined() ? elements_of<float>(norm.bias) : nullptr,
          norm.kind == NormKind::kLayer,
          norm.epsilon,
          matrix_of<float>(norm.y),
          matrix_of<float>(norm.stats),
          norm.rounded == nullptr ? Matrix<BFloat16>() : matrix_of<BFloat16>(*norm.rounded)};
}

void add_residual(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, const Tensor& sum,
                  Norm& norm) {
  norm.extent = extent_of(residual);
  norm.x = matrix_of<float>(residual);
  norm.sublayer = any_matrix_of(sublayer);
  norm.mask = mask_of(dropout);
  norm.sum = matrix_of<float>(sum);
}

void norm_backward(const LayerNormBackward& norm, const Dropout& dropout, const AnyMatrix& grad_dropped) {
  const DeviceArray<float> scratch(column_sum_scratch(extent_of(norm.x), 2));
  const bool biased = norm.grad_bias.defined();
  const DeviceArray<float> unused(biased ? 0 : norm.x.dim(1));  // a norm without a bias computes its gradient in vain
  layer_norm_backward({extent_of(norm.x), matrix_of<float>(norm.x), matrix_of<float>(norm.stats),
                       elements_of<float>(norm.gain), norm.kind == NormKind::kLayer, matrix_of<float>(norm.grad_y),
                       matrix_of<float>(norm.grad_x), elements_of<float>(norm.grad_gain),
                       biased ? elements_of<float>(norm.grad_bias) : unused.data(), mask_of(dropout), grad_dropped,
                       scratch.data()});
}

// The sums of losses, in the memory of the device.
double* pending_sums(Tensor& pending, int64_t count) {
  if (!pending.defined()) {
    pending = Tensor::zeros({count}, DType::kFloat64);
  }
  return elements_of<double>(pending);
}

void add_cross_entropy(const Tensor& logits, const Tensor& targets, const LossOptions& options, bool with_gradient,
                       TokenLosses& sums) {
  const int64_t rows = logits.dim(0);
  if (rows == 0) {
    return;
  }
  const OnDevice<int32_t> ids(targets);
  const DeviceArray<double> row_losses(3 * rows);
  cuda::cross_entropy({any_matrix_of(logits), ids.data(), extent_of(logits), options.label_smoothing, with_gradient,
                       static_cast<float>(options.gradient_scale), row_losses.data()},
                      pending_sums(sums.pending, 3));
}

}  // namespace

void CudaBackend::add_to_rows(const Tensor& row, Tensor& rows) const {
  cuda::add_to_rows(elements_of<float>(row), any_matrix_of(rows), extent_of(rows));
}

void CudaBackend::activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) const {
  cuda::activation(any_matrix_of(x), curve_of(activation), mask_of(dropout), any_matrix_of(y), extent_of(x));
}

void CudaBackend::activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation,
                                      const Dropout& dropout, Tensor& grad_x) const {
  cuda::activation_backward(any_matrix_of(saved), any_matrix_of(grad_y), curve_of(activation), mask_of(dropout),
                            any_matrix_of(grad_x), extent_of(saved));
}

void CudaBackend::gated_activation(const GatedInputs& inputs, Tensor& y) const {
  cuda::gated_activation(any_matrix_of(inputs.gate), any_matrix_of(inputs.up), curve_of(inputs.activation),
                         mask_of(inputs.dropout), any_matrix_of(y), extent_of(y));
}

void CudaBackend::gated_activation_backward(const GatedInputs& inputs, const Tensor& grad_y,
                                            const GatedGradients& gradients) const {
  cuda::gated_activation_backward({any_matrix_of(inputs.gate), any_matrix_of(inputs.up), any_matrix_of(grad_y),
                                   any_matrix_of(gradients.gate), any_matrix_of(gradients.up),
                                   curve_of(inputs.activation), mask_of(inputs.dropout), extent_of(grad_y)});
}

void CudaBackend::rotate(const Rotation& rotation, Tensor& y) const {
  const OnDevice<int32_t> positions(rotation.positions);
  cuda::rotate(any_matrix_of(rotation.x), positions.data(), matrix_of<float>(rotation.table), rotation.table.dim(1),
               rotation.inverse ? -1.0F : 1.0F, any_matrix_of(y), extent_of(y));
}

void CudaBackend::softmax(const Tensor& x, Tensor& probs) const {
  cuda::softmax(matrix_of<float>(x), false, matrix_of<float>(probs), extent_of(x));
}

void CudaBackend::log_softmax(const Tensor& x, Tensor& log_probs) const {
  cuda::softmax(matrix_of<float>(x), true, matrix_of<float>(log_probs), extent_of(x));
}

void CudaBackend::softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad) const {
  cuda::softmax_backward(matrix_of<float>(probs), false, matrix_of<float>(grad_output), matrix_of<float>(grad),
                         extent_of(probs));
}

void CudaBackend::log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad) const {
  cuda::softmax_backward(matrix_of<float>(log_probs), true, matrix_of<float>(grad_output), matrix_of<float>(grad),
                         extent_of(log_probs));
}

void CudaBackend::layer_norm(const LayerNormForward& norm) const {
  cuda::layer_norm(norm_of(norm));
}

void CudaBackend::layer_norm_backward(const LayerNormBackward& norm) const {
  norm_backward(norm, {}, {});
}

void CudaBackend::residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                   Tensor& sum) const {
  Norm norm{};
  add_residual(residual, sublayer, dropout, sum, norm);
  cuda::layer_norm(norm);
}

void CudaBackend::residual_dropout_layer_norm(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                              Tensor& sum, const LayerNormForward& forward) const {
  Norm norm = norm_of(forward);
  add_residual(residual, sublayer, dropout, sum, norm);
  cuda::layer_norm(norm);
}

void CudaBackend::residual_dropout_layer_norm_backward(const LayerNormBackward& norm, const Dropout& dropout,
                                                       Tensor& grad_sublayer) const {
  norm_backward(norm, dropout, any_matrix_of(grad_sublayer));
}

void CudaBackend::dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const {
  cuda::dropout_rows(any_matrix_of(x), mask_of(dropout), any_matrix_of(y), extent_of(x));
}

void CudaBackend::dropout_whole_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const {
  cuda::dropout_whole_rows(matrix_of<float>(x), mask_of(dropout), matrix_of<float>(y), extent_of(x));
}

void CudaBackend::gather_rows(const Tensor& table, const Tensor& ids, float scale, Tensor& y) const {
  const OnDevice<int32_t> rows(ids);
  cuda::gather_rows(matrix_of<float>(table), rows.data(), scale, matrix_of<float>(y), extent_of(y));
}

void CudaBackend::scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, float scale, Tensor& table_sum) const {
  const int64_t table_rows = table_sum.dim(0);
  const auto sorted = ids.derived<SortedOnDevice>(
      [&] {
        const SortedRows on_host(tensor::HostView<int32_t>(ids).span(), table_rows);
        return std::make_shared<SortedOnDevice>(on_host, table_rows);
      },
      &SortedOnDevice::refill);
  const int64_t count = is_recording() ? sorted->most : sorted->count;
  scatter_rows(matrix_of<float>(rows), {sorted->ids.data(), sorted->starts.data(), sorted->rows.data(), count}, scale,
               matrix_of<float>(table_sum), table_sum.dim(1));
}

void CudaBackend::rows_accumulate(const Tensor& from, Tensor& to) const {
  cuda::rows_accumulate(matrix_of<float>(from), matrix_of<float>(to), extent_of(from));
}

void CudaBackend::cross_entropy(const Tensor& logits, const Tensor& targets, float label_smoothing,
                                TokenLosses& sums) const {
  add_cross_entropy(logits, targets, {label_smoothing, 1.0}, false, sums);
}

void CudaBackend::cross_entropy_gradient(Tensor& logits, const Tensor& targets, const LossOptions& options,
                                         TokenLosses& sums) const {
  add_cross_entropy(logits, targets, options, true, sums);
}

void CudaBackend::two_pass_cross_entropy(const TwoPassBlock& block, TwoPassLosses& losses) const {
  const int64_t pairs = block.logits.dim(0) / 2, n_classes = block.logits.dim(1);
  if (pairs == 0) {
    return;
  }
  const TwoPassWeights weights = block.options.weights();
  const TwoPassRowGradient scales = block.options.row_gradient(0, n_classes);
  const OnDevice<int32_t> targets(block.targets);
  const DeviceArray<double> row_losses(4 * pairs);
  cuda::two_pass_cross_entropy({matrix_of<float>(block.logits),
                                targets.data(),
                                {pairs, n_classes},
                                scales.label_smoothing,
                                block.with_gradient,
                                static_cast<float>(scales.scale_p),
                                static_cast<float>(scales.scale_q),
                                static_cast<float>(scales.divergence_scale),
                                static_cast<float>(scales.reverse),
                                weights.first,
                                weights.second,
                                row_losses.data()},
                               pending_sums(losses.pending, 4));
}

void CudaBackend::weighted_sum(const Tensor& terms, std::span<const double> weights, Tensor& y) const {
  WeightedTerms sum{elements_of<double>(terms), {}, static_cast<int>(weights.size())};
  base::check_argument(weights.size() <= WeightedTerms::kMost, "weighted_sum: {} terms, must be at most {}",
                       weights.size(), WeightedTerms::kMost);
  std::ranges::copy(weights, sum.weights);
  cuda::weighted_sum(sum, elements_of<float>(y));
}

}  // namespace dragoman::kernels::cuda
