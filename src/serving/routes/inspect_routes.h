#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"
#include "serving/service/work_queue.h"

namespace dragoman::serving {

/// The number of inspections that may wait; more are refused.
inline constexpr size_t kMostInspections = 16;

/// Adds POST /v1/inspect (docs/inspect.md) and GET /v1/model?source=en&target=de or ?model=ID, the model card. The
/// thread of `queue` computes one inspection at a time; an inspection ends soon after its client disconnects. Statuses:
/// 400 for a wrong request, 404 for a language pair that is not served, 503 if too many inspections wait, 504 after the
/// time of a request. Requires: `context` and `queue` outlive the router. `queue` ends before the connections that it
/// answers.
void add_inspect_routes(Router& router, ServingContext& context, WorkQueue& queue);

}  // namespace dragoman::serving
