#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/inspection/inspection.h"

namespace dragoman::serving {

/// What one part of a reply is to show; see docs/inspect.md.
enum class PartKind {
  kWeights,      ///< attention weights of all heads, of all attentions or the one at `path`
  kHead,         ///< one head: queries, keys, values, scores, scaled, weights, context
  kResidual,     ///< a sub-layer: input, read, change, sum, result
  kFeedForward,  ///< hidden, active
  kEmbedding,    ///< words, positions, sum
  kOutput,       ///< of the encoder or the decoder
  kCandidates,   ///< the likeliest next tokens of every step
  kLogits,       ///< all logits of one step
  kBeam,         ///< the beam tree
};

/// One part of a reply.
struct InspectPart {
  PartKind kind;
  std::string name;  ///< of the kind, as asked
  std::string path = {};
  int64_t head = 0;
  int64_t step = 0;
  int64_t count = 8;
};

/// The body of POST /v1/inspect.
struct InspectRequest {
  std::string source;  ///< language code; empty, like `target`: of the first model
  std::string target;
  std::string api_key;               ///< where the server asks for one
  std::optional<int64_t> beam_size;  ///< 1 to 16
  std::optional<double> alpha;       ///< of the length penalty
  decoding::InspectionRequest inspection;
  std::vector<InspectPart> parts;

  /// Sets the options of the search: those of the model, with what the body asks for in their place.
  void complete(const decoding::SearchOptions& of_model);
};

/// Reads the body. Unknown keys are refused, since a misspelt one would be
/// silently without effect.
/// Throws Error(kUsage): "inspect: parts[0].part is \"heads\"; known: beam, candidates, ...", "inspect: unknown key
/// \"sentence\"; known: ...", a wrong type, more than 64 parts. Error(kBadData) for what is no JSON.
InspectRequest parse_inspect_request(std::string_view body);

}  // namespace dragoman::serving
