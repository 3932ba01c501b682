#pragma once

#include <functional>

#include "serving/http/http_server.h"
#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// GET /metrics: Prometheus text format 0.0.4 (docs/serving.md lists the names).
/// @param connections  of the server that serves it
void add_metrics_routes(Router& router, ServingContext& context, std::function<ConnectionCounts()> connections);

}  // namespace dragoman::serving
