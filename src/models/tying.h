#pragma once

#include <cstdint>

#include "base/names.h"

namespace dragoman::models {

/// Which of the three [V, D] matrices of an encoder-decoder are one (Vaswani et al. 2017, section 3.4: all three).
enum class Tying {
  kNone,        ///< source embedding, target embedding and output weight apart
  kTarget,      ///< target embedding = output weight
  kAll,         ///< all three; needs one joint vocabulary
  kEmbeddings,  ///< source embedding = target embedding; needs one joint vocabulary
};

constexpr base::Names<Tying> names_of(Tying) {
  return {
      "tying",
      {{Tying::kNone, "none"}, {Tying::kTarget, "target"}, {Tying::kAll, "all"}, {Tying::kEmbeddings, "embeddings"}}};
}

/// Returns: whether source and target have one embedding, and so one joint vocabulary.
constexpr bool shares_embeddings(Tying tying) {
  return tying == Tying::kAll || tying == Tying::kEmbeddings;
}

/// Returns: whether the output weight is a matrix of its own.
constexpr bool has_output_weight(Tying tying) {
  return tying == Tying::kNone || tying == Tying::kEmbeddings;
}

/// Throws: Error(kUsage) if all are one, but the vocabularies differ in size: "tying "all" needs one joint vocabulary,
/// but the source has 7 pieces and the target 9; use tying "target" or a joint vocabulary".
void check_tying(Tying tying, int64_t source_vocab_size, int64_t target_vocab_size);

}  // namespace dragoman::models
