#include "nn/token_embedding.h"

#include <cmath>

#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/row_dropout.h"

namespace dragoman::nn {

TokenEmbedding::TokenEmbedding(ParameterSet& parameters, const std::string& path, ParameterHandle table,
                               const LayerConfig& config, const PositionConfig& positions, float word_dropout)
    : table_(std::move(table)),
      positions_(positions.kind),
      scale_(config.options.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0F),
      dropout_(config.dropout),
      word_dropout_(word_dropout),
      path_(path),
      site_(dropout_site(path)),
      word_site_(dropout_site(path + ".words")),
      cut_site_(dropout_site(path + ".cut")) {
  if (positions.kind == PositionKind::kLearned) {
    const bool as_gpt2 = config.options.initial_weights == InitialWeights::kGpt2;
    const float deviation = positions.deviation > 0.0F ? positions.deviation : as_gpt2 ? kGpt2Deviation : 0.0F;
    learned_positions_ = parameters.declare(path + ".positions", {positions.max_positions, config.d_model},
                                            deviation > 0.0F ? Initializer::kNormal : Initializer::kNormalEmbedding);
    learned_positions_->deviation = deviation;
  } else if (positions.kind == PositionKind::kSinusoidal) {
    sinusoids_ = ops::sinusoidal_positions(positions.max_positions, config.d_model);
  }
}

Variable TokenEmbedding::position_table(tensor::DType dtype) const {
  if (learned_positions_ != nullptr) {
    return learned_positions_->variable;  // [P, D]
  }
  return Variable(dtype == sinusoids_.dtype() ? sinusoids_ : sinusoids_.to(dtype));  // [P, D]
}

bool TokenEmbedding::adds_positions() const {
  return positions_ == PositionKind::kSinusoidal || positions_ == PositionKind::kLearned;
}

// The embeddings, some of them dropped, others cut. Cutting is dropping without its factor.
Variable TokenEmbedding::words_of(const Tensor& ids, const ForwardContext& context) const {
  const Variable embedded = ops::embedding(table_->weight(), ids, scale_);                        // [N, D]
  const Variable words = ops::row_dropout(embedded, context.dropout(word_dropout_, word_site_));  // [N, D]
  const kernels::Dropout cut = context.dropout(context.word_cut, cut_site_);
  return cut.probability > 0.0F ? ops::scale(ops::row_dropout(words, cut), 1.0 - cut.probability) : words;  // [N, D]
}

Variable TokenEmbedding::forward(const Tensor& ids, const RaggedRows& rows, const ForwardContext& outer) const {
  const ForwardContext context = outer.over(rows);
  const Variable words = words_of(ids, context);  // [N, D]
  const Variable placed =
      adds_positions() ? ops::add_positions(words, position_table(words.dtype()), rows.positions) : words;  // [N, D]
  if (context.observer != nullptr) {
    context.show(path_, "words", words.value());
    if (adds_positions()) {
      context.show(path_, "positions",
                   ops::embedding(position_table(words.dtype()), rows.positions, 1.0F).value());  // [N, D]
    }
    context.show(path_, "sum", placed.value());
  }
  return ops::dropout(placed, context.dropout(dropout_, site_));  // [N, D]
}

}  // namespace dragoman::nn
