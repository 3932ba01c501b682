#include <numeric>

#include "kernels/cpu/attention/source_attention_cpu.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/output/cross_entropy_cpu.h"
#include "kernels/cpu/output/two_pass_cross_entropy_cpu.h"
#include "kernels/cpu/rows/activation_cpu.h"
#include "kernels/cpu/rows/dropout_cpu.h"
#include "kernels/cpu/rows/embedding_cpu.h"
#include "kernels/cpu/rows/layer_norm_cpu.h"
#include "kernels/cpu/rows/recurrent_cpu.h"
#include "kernels/cpu/rows/rotation_cpu.h"
#include "kernels/cpu/rows/scan_cpu.h"
#include "kernels/cpu/rows/softmax_cpu.h"
#include "kernels/cpu/rows/text_vectors_cpu.h"
#include "kernels/reference/dropout.h"
#include "kernels/row_of.h"

namespace dragoman::kernels {
void CpuBackend::add_to_rows(const Tensor& row, Tensor& rows) const {
  for (int64_t n = 0; n < rows.dim(0); ++n) {
    scaled_row_accumulate(row.data<float>(), 1.0F, rows.dim(1), row_of<float>(rows, n));
  }
}

void CpuBackend::activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) const {
  activation_cpu(x, activation, dropout, y);
}

void CpuBackend::activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation,
                                     const Dropout& dropout, Tensor& grad_x) const {
  activation_backward_cpu(saved, grad_y, activation, dropout, grad_x);
}

void CpuBackend::gated_activation(const GatedInputs& inputs, Tensor& y) const {
  gated_activation_cpu(inputs, y);
}

void CpuBackend::gated_activation_backward(const GatedInputs& inputs, const Tensor& grad_y,
                                           const GatedGradients& gradients) const {
  gated_activation_backward_cpu(inputs, grad_y, gradients);
}

void CpuBackend::rotate(const Rotation& rotation, Tensor& y) const {
  rotate_cpu(rotation, y);
}

void CpuBackend::softmax(const Tensor& x, Tensor& probs) const {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    softmax_row(row_of<float>(x, n), x.dim(1), row_of<float>(probs, n));
  }
}

void CpuBackend::log_softmax(const Tensor& x, Tensor& log_probs) const {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    log_softmax_row(row_of<float>(x, n), x.dim(1), row_of<float>(log_probs, n));
  }
}

void CpuBackend::softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad) const {
  for (int64_t n = 0; n < probs.dim(0); ++n) {
    softmax_row_backward(row_of<float>(probs, n), row_of<float>(grad_output, n), probs.dim(1), row_of<float>(grad, n));
  }
}

void CpuBackend::log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad) const {
  for (int64_t n = 0; n < log_probs.dim(0); ++n) {
    log_softmax_row_backward(row_of<float>(log_probs, n), row_of<float>(grad_output, n), log_probs.dim(1),
                             row_of<float>(grad, n));
  }
}

void CpuBackend::layer_norm(const LayerNormForward& norm) const {
  layer_norm_float32(norm);
}

void CpuBackend::layer_norm_backward(const LayerNormBackward& norm) const {
  layer_norm_backward_float32(norm);
}

void CpuBackend::residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                  Tensor& sum) const {
  residual_dropout_float32(residual, sublayer, dropout, sum);
}

void CpuBackend::residual_dropout_layer_norm(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                             Tensor& sum, const LayerNormForward& norm) const {
  residual_dropout_layer_norm_float32(residual, sublayer, dropout, sum, norm);
}

void CpuBackend::residual_dropout_layer_norm_backward(const LayerNormBackward& norm, const Dropout& dropout,
                                                      Tensor& grad_sublayer) const {
  residual_dropout_layer_norm_backward_float32(norm, dropout, grad_sublayer);
}

void CpuBackend::dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const {
  kernels::dropout_rows(x, dropout, y);
}

void CpuBackend::dropout_whole_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    scaled_row(row_of<float>(x, n), static_cast<float>(reference::dropout_factor(dropout, n, 0)), x.dim(1),
               row_of<float>(y, n));
  }
}

void CpuBackend::gather_rows(const Tensor& table, const Tensor& ids, float scale, Tensor& y) const {
  const int32_t* id = ids.data<int32_t>();
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    scaled_row(row_of<float>(table, id[n]), scale, table.dim(1), row_of<float>(y, n));
  }
}

void CpuBackend::scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, float scale, Tensor& table_sum) const {
  const int32_t* id = ids.data<int32_t>();
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    scaled_row_accumulate(row_of<float>(rows, n), scale, rows.dim(1), row_of<float>(table_sum, id[n]));
  }
}

void CpuBackend::rows_accumulate(const Tensor& from, Tensor& to) const {
  for (int64_t n = 0; n < from.dim(0); ++n) {
    scaled_row_accumulate(row_of<float>(from, n), 1.0F, from.dim(1), row_of<float>(to, n));
  }
}

void CpuBackend::cross_entropy(const Tensor& logits, const Tensor& targets, float label_smoothing,
                               TokenLosses& sums) const {
  const int32_t* target = targets.data<int32_t>();
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    sums.add(cross_entropy_row(row_of<float>(logits, n), logits.dim(1), target[n], label_smoothing));
  }
}

void CpuBackend::cross_entropy_gradient(Tensor& logits, const Tensor& targets, const LossOptions& options,
                                        TokenLosses& sums) const {
  const int32_t* target = targets.data<int32_t>();
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    sums.add(cross_entropy_row_gradient(row_of<float>(logits, n), logits.dim(1), target[n], options));
  }
}

void CpuBackend::weighted_sum(const Tensor& terms, std::span<const double> weights, Tensor& y) const {
  const std::span<const double> values = terms.span<double>();
  y.fill(std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0));
}

void CpuBackend::two_pass_cross_entropy(const TwoPassBlock& block, TwoPassLosses& losses) const {
  const int64_t tokens = block.logits.dim(0) / 2, n_classes = block.logits.dim(1);
  const float smoothing = block.options.cross_entropy.label_smoothing;
  for (int64_t n = 0; n < tokens; ++n) {
    float *logits_p = row_of<float>(block.logits, n), *logits_q = row_of<float>(block.logits, tokens + n);
    const int32_t target = block.targets.data<int32_t>()[n];
    TwoPassSums sums;
    add_to_two_pass_sums(logits_p, logits_q, n_classes, target, sums);
    const RowLoss loss_p = loss_of_row_sums(sums.p, n_classes, smoothing);
    const RowLoss loss_q = loss_of_row_sums(sums.q, n_classes, smoothing);
    const TwoPassRow row = two_pass_row_of_sums(sums, loss_p, loss_q);
    losses.add(row, loss_p, loss_q, block.options.weights());
    if (block.with_gradient) {
      two_pass_row_gradient(row, block.options.row_gradient(target, n_classes), n_classes, logits_p, logits_q);
    }
  }
}

void CpuBackend::recurrent_cell(const RecurrentCellForward& step) const {
  recurrent_cell_cpu(step);
}

void CpuBackend::recurrent_cell_backward(const RecurrentCellBackward& step) const {
  recurrent_cell_backward_cpu(step);
}

void CpuBackend::source_attention(const SourceAttentionForward& attention) const {
  source_attention_cpu(attention);
}

void CpuBackend::source_attention_backward(const SourceAttentionBackward& attention) const {
  source_attention_backward_cpu(attention);
}

void CpuBackend::scan(const ScanForward& scan) const {
  scan_cpu(scan);
}

void CpuBackend::scan_backward(const ScanBackward& scan) const {
  scan_backward_cpu(scan);
}

void CpuBackend::column_sums(const Tensor& x, const Tensor& y, Tensor& sums) const {
  column_sums_cpu(x, y, sums);
}

void CpuBackend::map_columns(const ColumnMap& map) const {
  map_columns_cpu(map);
}

void CpuBackend::mean_of_texts(const Tensor& x, std::span<const int32_t> offsets, Tensor& means) const {
  mean_of_texts_cpu(x, offsets, means);
}

void CpuBackend::mean_of_texts_backward(const Tensor& grad_means, std::span<const int32_t> offsets,
                                        Tensor& grad_x) const {
  mean_of_texts_backward_cpu(grad_means, offsets, grad_x);
}

void CpuBackend::unit_rows(const Tensor& x, Tensor& y) const {
  unit_rows_cpu(x, y);
}

void CpuBackend::unit_rows_backward(const Tensor& x, const Tensor& grad_y, Tensor& grad_x) const {
  unit_rows_backward_cpu(x, grad_y, grad_x);
}

}  // namespace dragoman::kernels
