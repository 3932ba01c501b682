#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"
#include "serving/service/work_queue.h"

namespace dragoman::serving {

/// The number of completion requests whose prompts may wait to be encoded; more are refused.
inline constexpr size_t kMostUnreadPrompts = 256;

/// Adds the interface of OpenAI for language models (docs/serving.md): POST /v1/completions, and POST
/// /v1/chat/completions, which is refused if the model has no chat template. The thread of
/// `queue` encodes the prompts, so the thread of the connections never waits for a long one.
/// Requires: `context.completions` is not null. `context` and `queue` outlive the router. `queue` ends before the
/// service and before the connections that it answers.
void add_completion_routes(Router& router, ServingContext& context, WorkQueue& queue);

}  // namespace dragoman::serving
