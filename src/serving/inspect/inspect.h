#pragma once

#include <cstdint>
#include <string>

#include "serving/inspect/inspect_request.h"

namespace dragoman::serving {

/// What bounds one reply of POST /v1/inspect.
struct InspectReplyLimits {
  decoding::InspectionLimits sentence = {};
  int64_t max_numbers = 600'000;  ///< in all parts together
};

/// The JSON reply of POST /v1/inspect: the sentence, its translation, the shape of the model and the parts asked for,
/// each number the model's own (docs/inspect.md). Runs the model on the calling thread.
/// Throws Error(kUsage) for what cannot be looked into, decoding::InspectionStopped when nobody waits for it any more.
std::string inspect_reply(const decoding::Translator& translator, const InspectRequest& request,
                          const InspectReplyLimits& limits = {});

}  // namespace dragoman::serving
