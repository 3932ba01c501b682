#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"
#include "serving/service/work_queue.h"

namespace dragoman::serving {

/// How many inspections may wait; more are refused.
inline constexpr size_t kMostInspections = 16;

/// POST /v1/inspect (docs/inspect.md), computed in the thread of `queue`, one request after the other; it ends soon
/// after its client has gone. GET /v1/model?source=en&target=de: the model's card. Statuses: 400 for what cannot be
/// looked into, 404 for a language pair that is not served, 503 when too many wait, 504 past the time of a request.
/// @param context  outlives the router, as does `queue`, which ends before the connections that it answers
void add_inspect_routes(Router& router, ServingContext& context, WorkQueue& queue);

}  // namespace dragoman::serving
