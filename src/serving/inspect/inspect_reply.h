#pragma once

#include <cstdint>
#include <string>

#include "serving/inspect/inspect_body.h"

namespace dragoman::serving {

/// The limits of one reply of POST /v1/inspect.
struct InspectReplyLimits {
  decoding::InspectionLimits sentence = {};
  int64_t max_numbers = 600'000;  ///< sum over all parts
};

/// Returns the JSON reply of POST /v1/inspect: the sentence, its translation, the sizes of the model and the requested
/// parts (docs/inspect.md). Every number is one that the model computes. The model runs on the calling thread.
/// Throws: Error(kUsage): "inspect: the text is blank; give a sentence". decoding::InspectionStopped after a cancel or
///         the deadline.
[[nodiscard]] std::string inspect_reply(const decoding::Translator& translator, const InspectBody& body,
                                        const InspectReplyLimits& limits = {});

/// Returns the same of a language model: the source is the prompt, and the target the next token of every token.
/// Throws: as above, and for a prompt that the model cannot read.
[[nodiscard]] std::string inspect_reply(const decoding::Generator& generator, const InspectBody& body,
                                        const InspectReplyLimits& limits = {});

/// Returns the same of an encoder, for which the source is the text, and the target is empty.
/// Throws: as above, and for parts of what is written: "inspect: an encoder writes no text, it has no candidates".
[[nodiscard]] std::string inspect_reply(const decoding::TextLabeler& encoder, const InspectBody& body,
                                        const InspectReplyLimits& limits = {});

}  // namespace dragoman::serving
