#pragma once

#include <cstdint>

#include "models/tying.h"
#include "nn/parameters.h"

namespace dragoman::models {

/// The three [V, D] matrices of an encoder-decoder, of which some may be one.
struct TiedTables {
  nn::ParameterHandle source;  ///< embedding of the source
  nn::ParameterHandle target;  ///< embedding of the target
  nn::ParameterHandle output;  ///< output weight
};

/// Declares them: source_embedding.weight, target_embedding.weight, output.weight, or embedding.weight for all three,
/// or for both embeddings. @param deviation  of the first numbers; 0 = D^-1/2
[[nodiscard]] TiedTables declare_tied_tables(nn::ParameterSet& parameters, Tying tying, int64_t source_vocab_size,
                                             int64_t target_vocab_size, int64_t d_model, float deviation = 0.0F);

}  // namespace dragoman::models
