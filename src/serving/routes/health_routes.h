#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds GET /health, which answers {"status": "ok"}, or 503 while the server is starting or stopping. Adds GET
/// /v2/health/live and /v2/health/ready of KServe, which answer with a status and no body.
/// Requires: `context` outlives the router.
void add_health_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
