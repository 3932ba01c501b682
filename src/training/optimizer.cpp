#include "training/optimizer.h"

#include <algorithm>

#include "kernels/backends/backend_of.h"

namespace dragoman::training {

using tensor::Tensor;

Adam::Adam(const AdamOptions& options, const nn::ParameterSet& parameters)
    : options_(options),
      first_moment_(Tensor::zeros({parameters.flat_size()})),
      second_moment_(Tensor::zeros({parameters.flat_size()})) {
  const bool decays_all = options.weight_decay == 0.0 || options.decayed == Decayed::kAll;
  for (size_t i = 0; i < parameters.parameters().size(); ++i) {
    const bool is_last = i + 1 == parameters.parameters().size();
    const int64_t end = is_last ? parameters.flat_size() : parameters.parameters()[i + 1]->offset;
    const bool is_decayed = decays_all || parameters.parameters()[i]->shape.rank() > 1;
    if (!pieces_.empty() && pieces_.back().is_decayed == is_decayed) {
      pieces_.back().end = end;
    } else {
      pieces_.push_back({end, is_decayed});
    }
  }
}

kernels::AdamScalars Adam::scalars(double learning_rate, double gradient_scale, int64_t step) const {
  return {learning_rate, options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay, gradient_scale, step};
}

void Adam::update(const Tensor& weights, const Tensor& gradients, distributed::Part part,
                  const kernels::AdamScalars& scalars) {
  int64_t begin = 0;
  for (const Piece& piece : pieces_) {
    const distributed::Part common{std::max(begin, part.begin), std::min(piece.end, part.end)};
    if (common.begin < common.end) {
      kernels::AdamScalars of_piece = scalars;
      of_piece.weight_decay = piece.is_decayed ? scalars.weight_decay : 0.0;
      update_piece(weights, gradients, common, of_piece);
    }
    begin = piece.end;
  }
}

void Adam::update_piece(const Tensor& weights, const Tensor& gradients, distributed::Part piece,
                        const kernels::AdamScalars& scalars) {
  const auto part_of = [piece](const Tensor& flat) { return flat.rows(piece.begin, piece.end); };
  Tensor updated = part_of(weights), moment1 = part_of(first_moment_), moment2 = part_of(second_moment_);
  kernels::backend_of(weights).adam_update(updated, part_of(gradients), moment1, moment2, scalars);
}

}  // namespace dragoman::training
