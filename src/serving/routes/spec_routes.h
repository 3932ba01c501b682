#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds GET /spec, the OpenAPI 3.0 document of the routes of `router` with the current languages and limits.
/// Requires: `context` outlives the router.
void add_spec_routes(Router& router, const ServingContext& context);

}  // namespace dragoman::serving
