#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// GET /health ({"status": "ok"}; 503 while draining), GET /v2/health/live and /v2/health/ready (KServe: a status and
/// no body).
void add_health_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
