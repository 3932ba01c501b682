#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// POST /v1/stream: the fields of /translate (one text, no alternatives, plain text), answered by server-sent events
/// (HTML Living Standard, section 9.2) while the translation grows:
///   event: token  data: {"line": 0, "position": 3, "piece": "▁Bank", "text": "Ein Mann auf der Bank"}
///   event: done   data: {"translatedText": "...", "detectedLanguage"?: {...}}
///   event: error  data: {"error": "...", "code": 504}
/// A token is sent as soon as it is sure, and never taken back: at once in greedy search ("beam_size": 1), in beam
/// search when all hypotheses agree on it. What is wrong with the request is told before the stream, by its status.
void add_stream_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
