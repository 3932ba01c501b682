#pragma once

#include "serving/router.h"
#include "serving/serving_context.h"

namespace dragoman::serving {

/// POST /v1/inspect (docs/inspect.md), computed in a thread of its own, one request after the other; beyond 16 that
/// wait 503. GET /v1/model?source=en&target=de: the model's card.
/// Statuses: 400 for what cannot be looked into, 404 for a language pair that is not served.
/// @param context  outlives the router
void add_inspect_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
