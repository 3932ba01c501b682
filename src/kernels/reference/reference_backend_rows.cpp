#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/reference/activation.h"
#include "kernels/reference/cross_entropy.h"
#include "kernels/reference/dropout.h"
#include "kernels/reference/embedding.h"
#include "kernels/reference/layer_norm.h"
#include "kernels/reference/recurrent.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/reference/rotation.h"
#include "kernels/reference/scan.h"
#include "kernels/reference/softmax.h"
#include "kernels/reference/source_attention.h"
#include "kernels/reference/text_vectors.h"
#include "kernels/reference/two_pass_cross_entropy.h"
#include "kernels/row_of.h"

namespace dragoman::kernels::reference {
namespace {

RowLoss loss_of_sums(const RowSums& sums, int64_t n_classes, double smoothing) {
  RowLoss loss;
  loss.correct = sums.correct;
  loss.log_sum_exp = sums.largest + std::log(sums.sum);
  loss.nll = loss.log_sum_exp - sums.wanted;
  const double mean_nll = loss.log_sum_exp - sums.total / static_cast<double>(n_classes);
  loss.smoothed = (1.0 - smoothing) * loss.nll + smoothing * mean_nll;
  return loss;
}

// KL(p || q) = sum_v p[v] (x[v] - y[v]) - (log_sum_exp_p - log_sum_exp_q), below 0 only by rounding.
TwoPassRow row_of_sums(const TwoPassSums& sums, const RowLoss& loss_p, const RowLoss& loss_q) {
  const double between = loss_p.log_sum_exp - loss_q.log_sum_exp;
  return {loss_p.log_sum_exp, loss_q.log_sum_exp, std::max(sums.difference_p / sums.p.sum - between, 0.0),
          std::max(between - sums.difference_q / sums.q.sum, 0.0)};
}

}  // namespace

void ReferenceBackend::add_to_rows(const Tensor& row, Tensor& rows) const {
  for (int64_t n = 0; n < rows.dim(0); ++n) {
    scaled_row_accumulate(row.data<double>(), 1.0, rows.dim(1), row_of<double>(rows, n));
  }
}

void ReferenceBackend::activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) const {
  reference::activation(x, activation, dropout, y);
}

void ReferenceBackend::activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation,
                                           const Dropout& dropout, Tensor& grad_x) const {
  reference::activation_backward(saved, grad_y, activation, dropout, grad_x);
}

void ReferenceBackend::gated_activation(const GatedInputs& inputs, Tensor& y) const {
  reference::gated_activation(inputs, y);
}

void ReferenceBackend::gated_activation_backward(const GatedInputs& inputs, const Tensor& grad_y,
                                                 const GatedGradients& gradients) const {
  reference::gated_activation_backward(inputs, grad_y, gradients);
}

void ReferenceBackend::rotate(const Rotation& rotation, Tensor& y) const {
  reference::rotate(rotation, y);
}

void ReferenceBackend::softmax(const Tensor& x, Tensor& probs) const {
  reference::softmax(x, probs);
}

void ReferenceBackend::log_softmax(const Tensor& x, Tensor& log_probs) const {
  reference::log_softmax(x, log_probs);
}

void ReferenceBackend::softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad) const {
  reference::softmax_backward(probs, grad_output, grad);
}

void ReferenceBackend::log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad) const {
  reference::log_softmax_backward(log_probs, grad_output, grad);
}

void ReferenceBackend::layer_norm(const LayerNormForward& norm) const {
  reference::layer_norm(norm);
}

void ReferenceBackend::layer_norm_backward(const LayerNormBackward& norm) const {
  reference::layer_norm_backward(norm);
}

void ReferenceBackend::residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                        Tensor& sum) const {
  reference::residual_dropout(residual, sublayer, dropout, sum);
}

void ReferenceBackend::residual_dropout_layer_norm(const Tensor& residual, const Tensor& sublayer,
                                                   const Dropout& dropout, Tensor& sum,
                                                   const LayerNormForward& norm) const {
  reference::residual_dropout(residual, sublayer, dropout, sum);
  reference::layer_norm(norm);
}

void ReferenceBackend::residual_dropout_layer_norm_backward(const LayerNormBackward& norm, const Dropout& dropout,
                                                            Tensor& grad_sublayer) const {
  reference::layer_norm_backward(norm);
  reference::dropout_rows(norm.grad_x, dropout, grad_sublayer);
}

void ReferenceBackend::dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const {
  reference::dropout_rows(x, dropout, y);
}

void ReferenceBackend::dropout_whole_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    scaled_row(row_of<double>(x, n), dropout_factor(dropout, n, 0), x.dim(1), row_of<double>(y, n));
  }
}

void ReferenceBackend::gather_rows(const Tensor& table, const Tensor& ids, float scale, Tensor& y) const {
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    scaled_row(row_of<double>(table, ids.data<int32_t>()[n]), scale, table.dim(1), row_of<double>(y, n));
  }
}

void ReferenceBackend::scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, float scale,
                                               Tensor& table_sum) const {
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    scaled_row_accumulate(row_of<double>(rows, n), scale, rows.dim(1),
                          row_of<double>(table_sum, ids.data<int32_t>()[n]));
  }
}

void ReferenceBackend::rows_accumulate(const Tensor& from, Tensor& to) const {
  for (int64_t n = 0; n < from.dim(0); ++n) {
    scaled_row_accumulate(row_of<double>(from, n), 1.0, from.dim(1), row_of<double>(to, n));
  }
}

void ReferenceBackend::cross_entropy(const Tensor& logits, const Tensor& targets, float label_smoothing,
                                     TokenLosses& sums) const {
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    sums.add(cross_entropy_row(row_of<double>(logits, n), logits.dim(1), targets.data<int32_t>()[n], label_smoothing));
  }
}

void ReferenceBackend::cross_entropy_gradient(Tensor& logits, const Tensor& targets, const LossOptions& options,
                                              TokenLosses& sums) const {
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    sums.add(cross_entropy_row_gradient(row_of<double>(logits, n), logits.dim(1), targets.data<int32_t>()[n], options));
  }
}

void ReferenceBackend::weighted_sum(const Tensor& terms, std::span<const double> weights, Tensor& y) const {
  const std::span<const double> values = terms.span<double>();
  y.fill(std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0));
}

void ReferenceBackend::two_pass_cross_entropy(const TwoPassBlock& block, TwoPassLosses& losses) const {
  const int64_t tokens = block.logits.dim(0) / 2, n_classes = block.logits.dim(1);
  const double smoothing = block.options.cross_entropy.label_smoothing;
  for (int64_t n = 0; n < tokens; ++n) {
    double *logits_p = row_of<double>(block.logits, n), *logits_q = row_of<double>(block.logits, tokens + n);
    const int32_t target = block.targets.data<int32_t>()[n];
    TwoPassSums sums;
    add_to_two_pass_sums(logits_p, logits_q, n_classes, target, sums);
    const RowLoss loss_p = loss_of_sums(sums.p, n_classes, smoothing);
    const RowLoss loss_q = loss_of_sums(sums.q, n_classes, smoothing);
    const TwoPassRow row = row_of_sums(sums, loss_p, loss_q);
    losses.add(row, loss_p, loss_q, block.options.weights());
    if (block.with_gradient) {
      two_pass_row_gradient(row, block.options.row_gradient(target, n_classes), n_classes, logits_p, logits_q);
    }
  }
}

void ReferenceBackend::recurrent_cell(const RecurrentCellForward& step) const {
  reference::recurrent_cell(step);
}

void ReferenceBackend::recurrent_cell_backward(const RecurrentCellBackward& step) const {
  reference::recurrent_cell_backward(step);
}

void ReferenceBackend::source_attention(const SourceAttentionForward& attention) const {
  reference::source_attention(attention);
}

void ReferenceBackend::source_attention_backward(const SourceAttentionBackward& attention) const {
  reference::source_attention_backward(attention);
}

void ReferenceBackend::scan(const ScanForward& scan) const {
  reference::scan(scan);
}

void ReferenceBackend::scan_backward(const ScanBackward& scan) const {
  reference::scan_backward(scan);
}

void ReferenceBackend::column_sums(const Tensor& x, const Tensor& y, Tensor& sums) const {
  reference::column_sums(x, y, sums);
}

void ReferenceBackend::map_columns(const ColumnMap& map) const {
  reference::map_columns(map);
}

void ReferenceBackend::mean_of_texts(const Tensor& x, std::span<const int32_t> offsets, Tensor& means) const {
  reference::mean_of_texts(x, offsets, means);
}

void ReferenceBackend::mean_of_texts_backward(const Tensor& grad_means, std::span<const int32_t> offsets,
                                              Tensor& grad_x) const {
  reference::mean_of_texts_backward(grad_means, offsets, grad_x);
}

void ReferenceBackend::unit_rows(const Tensor& x, Tensor& y) const {
  reference::unit_rows(x, y);
}

void ReferenceBackend::unit_rows_backward(const Tensor& x, const Tensor& grad_y, Tensor& grad_x) const {
  reference::unit_rows_backward(x, grad_y, grad_x);
}

}  // namespace dragoman::kernels::reference
