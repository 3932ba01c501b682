#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"
#include "serving/service/work_queue.h"

namespace dragoman::serving {

/// Adds the routes of encoders (docs/serving.md): POST /v1/embeddings of OpenAI's interface, for every encoder, and in
/// its style POST /v1/classify, /v1/tag and /v1/fill-mask, for encoders with the head. The thread of `queue` cuts the
/// texts into tokens.
/// Requires: `context.encodings` is not null. `context` and `queue` outlive the router. `queue` ends before the service
/// and before the connections that it answers.
void add_encoder_routes(Router& router, ServingContext& context, WorkQueue& queue);

}  // namespace dragoman::serving
