#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/inspection/inspected_parameter.h"
#include "decoding/inspection/inspection.h"

namespace dragoman::serving {

/// The kinds of parts of a reply; see docs/inspect.md.
enum class PartKind {
  kWeights,      ///< attention weights of all heads, of the attention at `path` or of all
  kHead,         ///< one head: queries, keys, values, scores, scaled, weights, context
  kAttention,    ///< all heads side by side: query, key, value, context
  kParameter,    ///< values of a parameter
  kResidual,     ///< a sub-layer: input, read, change, result
  kRunningMean,  ///< an SSRU or an average attention: state, and what it is made of
  kCell,         ///< a recurrent layer: gates, states before and behind each row
  kCellSums,     ///< a recurrent layer: the sums that its gates are functions of
  kFirstState,   ///< a recurrent decoder layer: the summary of the source, and the state made of it
  kReadout,      ///< a recurrent decoder: what its last rows are made of
  kAttentional,  ///< input feeding: the attentional vector, and what it is made of
  kConvolution,  ///< a convolutional layer: what it reads, value, gate, result
  kFeedForward,  ///< hidden, active
  kEmbedding,    ///< words, positions, sum
  kOutput,       ///< of the encoder or the decoder
  kCandidates,   ///< the most likely next tokens of each step
  kLogits,       ///< all logits of one step
  kBeam,         ///< the beam tree
};

/// One requested part of a reply.
struct InspectPart {
  PartKind kind;
  std::string name;  ///< name of the kind, as in the request
  std::string path = {};
  int64_t head = 0;
  int64_t step = 0;
  int64_t count = 8;
  decoding::ParameterRegion region = {};  ///< of kParameter, whose path is that of the part
};

/// The body of POST /v1/inspect.
struct InspectBody {
  std::string source;  ///< language code; with both codes empty the first model is used
  std::string target;
  std::string model;                   ///< name of a language model or an encoder
  std::string api_key;                 ///< if the server needs one
  std::optional<int64_t> beam_size;    ///< 1 to 16
  std::optional<double> alpha;         ///< exponent of the length penalty
  decoding::SamplingOptions sampling;  ///< how a language model continues
  decoding::InspectionRequest inspection;
  std::vector<InspectPart> parts;
  std::vector<std::string> given;  ///< keys of the body that are not null

  /// Sets the search options: those of the model, except for the values that the body gives.
  /// Throws: Error(kUsage) for a field of a language model: "inspect: temperature is for language models".
  void complete(const decoding::SearchOptions& of_model);
  /// Sets the search options of a language model.
  /// Throws: Error(kUsage) for a field of a beam search: "inspect: beam_size is for models that translate".
  void complete_for_language_model();
  /// Throws: Error(kUsage) for a field of a model that writes: "inspect: max_tokens is for models that write".
  void complete_for_encoder() const;

 private:
  void refuse(std::initializer_list<const char*> keys, const char* owner) const;
};

/// Reads the body. Unknown keys are refused, since a misspelt key would silently have no effect.
/// Throws: Error(kUsage): "inspect: parts[0].part is "heads"; known: attention, attentional, ...", "inspect: unknown
/// key
///         "sentence"; known: ...", a wrong type, more than 64 parts. Error(kBadData) for a body that is no JSON.
[[nodiscard]] InspectBody parse_inspect_body(std::string_view body);

}  // namespace dragoman::serving
