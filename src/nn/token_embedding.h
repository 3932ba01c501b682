#pragma once

#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/parameters.h"

namespace dragoman::nn {

/// The kind of position vectors.
enum class PositionKind {
  kSinusoidal,  ///< PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos of the same angle (paper, section 3.5)
  kLearned,     ///< one trained row for each position (paper, table 3, row E)
  kRotary,      ///< none here: attention rotates queries and keys (RoPE; Su et al. 2021)
  kNone,
  kRelative,  ///< none here: self-attention adds numbers by the distance of query and key (Raffel et al. 2020)
};

constexpr base::Names<PositionKind> names_of(PositionKind) {
  return {"positions",
          {{PositionKind::kSinusoidal, "sinusoidal"},
           {PositionKind::kLearned, "learned"},
           {PositionKind::kRotary, "rope"},
           {PositionKind::kNone, "none"},
           {PositionKind::kRelative, "relative"}}};
}

struct PositionConfig {
  PositionKind kind = PositionKind::kSinusoidal;
  int64_t max_positions = 1024;  ///< rows of the table, and so the largest length of a sentence
  float deviation = 0.0F;  ///< of the first numbers of learned positions; 0 = as LayerOptions::initial_weights says
};

/// Computes x = dropout(word_dropout(table[id] * sqrt(D)) + position). The paper has no word dropout
/// (ops::row_dropout). LayerOptions::scale_embedding may leave out the root. With ForwardContext::word_cut, the
/// embeddings of random words are 0. Source: Vaswani et al. 2017, sections 3.4, 3.5 and 5.4.
class TokenEmbedding {
 public:
  /// @param table  [V, D], shared if weights are tied. Learned positions are the parameter PATH.positions [P, D].
  TokenEmbedding(ParameterSet& parameters, const std::string& path, ParameterHandle table, const LayerConfig& config,
                 const PositionConfig& positions, float word_dropout = 0.0F);
  /// @param ids  [N] int32;  @return [N, D]
  Variable forward(const Tensor& ids, const RaggedRows& rows, const ForwardContext& context) const;

 private:
  bool adds_positions() const;
  Variable words_of(const Tensor& ids, const ForwardContext& context) const;
  Variable position_table(tensor::DType dtype) const;

  ParameterHandle table_;
  PositionKind positions_;
  ParameterHandle learned_positions_;  // null unless learned
  Tensor sinusoids_;                   // [P, D] float32; undefined unless sinusoidal
  float scale_;
  float dropout_;
  float word_dropout_;
  std::string path_;
  uint32_t site_;
  uint32_t word_site_;
  uint32_t cut_site_;
};

}  // namespace dragoman::nn
