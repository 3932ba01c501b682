#include "training/optimizer.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "training/muon.h"

namespace dragoman::training {

using tensor::Tensor;

namespace {

int64_t elements_of(const std::vector<distributed::Part>& owned, int64_t all) {
  int64_t elements = 0;
  for (const distributed::Part& part : owned) {
    elements += part.end - part.begin;
  }
  return owned.empty() ? all : elements;
}

// A weight of a layer. Embeddings and output weights are stored the other way round.
bool is_hidden_matrix(const nn::Parameter& parameter) {
  return parameter.is_matrix_weight && parameter.packed_from == kernels::Transpose::kNo;
}

bool takes_muon(const AdamOptions& options, const nn::Parameter& parameter) {
  return options.optimizer == OptimizerKind::kMuon && is_hidden_matrix(parameter);
}

}  // namespace

Optimizer::Optimizer(const AdamOptions& options, const nn::ParameterSet& parameters, int workers,
                     std::vector<distributed::Part> owned)
    : options_(options),
      owned_(std::move(owned)),
      first_moment_(Tensor::zeros({elements_of(owned_, parameters.flat_size())})),
      second_moment_(Tensor::zeros({first_moment_.size()})) {
  const bool decays_none = options.weight_decay == 0.0, decays_all = options.decayed == Decayed::kAll;
  for (size_t i = 0; i < parameters.parameters().size(); ++i) {
    const nn::Parameter& parameter = *parameters.parameters()[i];
    const bool is_last = i + 1 == parameters.parameters().size();
    const int64_t end = is_last ? parameters.flat_size() : parameters.parameters()[i + 1]->offset;
    const bool is_matrix = takes_muon(options, parameter);
    const bool is_decayed = decays_none || (parameter.is_trained && (decays_all || parameter.shape.rank() > 1));
    if (!pieces_.empty() && pieces_.back().is_decayed == is_decayed && pieces_.back().is_matrix == is_matrix) {
      pieces_.back().end = end;
    } else {
      pieces_.push_back({end, is_decayed, is_matrix});
    }
  }
  add_matrices(parameters, workers);
}

// The largest first, each to the worker with the least work.
void Optimizer::add_matrices(const nn::ParameterSet& parameters, int workers) {
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    if (takes_muon(options_, *parameter)) {
      matrices_.push_back({parameter->offset, parameter->shape[0], parameter->shape[1], 0});
    }
  }
  const auto cost = [](const Matrix& matrix) {
    return static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns) *
           static_cast<double>(std::min(matrix.rows, matrix.columns));
  };
  std::ranges::stable_sort(matrices_, std::greater<>(), cost);
  std::vector<double> work(static_cast<size_t>(workers));
  for (Matrix& matrix : matrices_) {
    const auto least = std::ranges::min_element(work);
    matrix.worker = static_cast<int>(least - work.begin());
    *least += cost(matrix);
  }
}

int64_t Optimizer::scratch_elements(const AdamOptions& options, const nn::ParameterSet& parameters) {
  int64_t most = 0;
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    if (takes_muon(options, *parameter)) {
      const int64_t rows = parameter->shape[0], columns = parameter->shape[1], n = std::min(rows, columns);
      most = std::max(most, 2 * (rows * columns + n * n));
    }
  }
  return most;
}

void Optimizer::update_matrices(const Tensor& weights, int worker, const kernels::AdamScalars& scalars,
                                kernels::Precision precision) {
  for (const Matrix& matrix : matrices_) {
    if (matrix.worker == worker) {
      const auto view = [&](const Tensor& flat) {
        return flat.rows(matrix.offset, matrix.offset + matrix.rows * matrix.columns)
            .reshape({matrix.rows, matrix.columns});
      };
      Tensor weight = view(weights);
      muon_step(weight, view(second_moment_), scalars.learning_rate, scalars.weight_decay, precision);
    }
  }
}

kernels::AdamScalars Optimizer::scalars(double learning_rate, double gradient_scale, int64_t step) const {
  return {learning_rate, options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay, gradient_scale, step};
}

void Optimizer::update(const Tensor& weights, const Tensor& gradients, distributed::Part part,
                       const kernels::AdamScalars& scalars) {
  int64_t begin = 0;
  for (const Piece& piece : pieces_) {
    const distributed::Part common{std::max(begin, part.begin), std::min(piece.end, part.end)};
    if (common.begin < common.end && piece.is_matrix) {
      const auto part_of = [&](const Tensor& flat) { return flat.rows(common.begin, common.end); };
      Tensor momentum = part_of(first_moment_), direction = part_of(second_moment_);
      muon_direction(part_of(gradients), momentum, direction, {options_.muon_momentum, scalars.gradient_scale});
    } else if (common.begin < common.end) {
      kernels::AdamScalars of_piece = scalars;
      of_piece.weight_decay = piece.is_decayed ? scalars.weight_decay : 0.0;
      update_piece(weights, gradients, common, of_piece);
    }
    begin = piece.end;
  }
}

// Where the moments of a part begin.
int64_t Optimizer::moment_offset(distributed::Part part) const {
  int64_t before = 0;
  for (const distributed::Part& own : owned_) {
    if (part.begin >= own.begin && part.end <= own.end) {
      return before + part.begin - own.begin;
    }
    before += own.end - own.begin;
  }
  base::check_argument(owned_.empty(), "optimizer: it does not own the elements {} to {}", part.begin, part.end);
  return part.begin;
}

void Optimizer::update_piece(const Tensor& weights, const Tensor& gradients, distributed::Part piece,
                             const kernels::AdamScalars& scalars) {
  const int64_t size = piece.end - piece.begin, moments = moment_offset(piece);
  Tensor updated = weights.rows(piece.begin, piece.end);          // [size]
  Tensor moment1 = first_moment_.rows(moments, moments + size);   // [size]
  Tensor moment2 = second_moment_.rows(moments, moments + size);  // [size]
  kernels::backend_of(weights).adam_update(updated, gradients.rows(piece.begin, piece.end), moment1, moment2, scalars);
}

}  // namespace dragoman::training
