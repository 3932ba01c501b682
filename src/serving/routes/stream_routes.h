#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds POST /v1/stream. It takes the fields of /translate for one plain text without alternatives, and answers with
/// server-sent events while the translation grows:
///   event: token  data: {"line": 0, "position": 3, "piece": "▁Bank", "text": "Ein Mann auf der Bank"}
///   event: done   data: {"translatedText": "...", "detectedLanguage"?: {...}}
///   event: error  data: {"error": "...", "code": 504}
/// A token is sent as soon as it is final: in greedy search ("beam_size": 1) at its step, in beam search when all
/// hypotheses agree on it. A wrong request gets an error status instead of a stream.
/// Requires: `context` outlives the router.
/// Source: HTML Living Standard, section 9.2.
void add_stream_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
