#pragma once

#include <functional>

#include "serving/http/http_server.h"
#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds GET /metrics in Prometheus text format 0.0.4; docs/serving.md lists the names.
/// Requires: `context` outlives the router.
/// @param connections  returns the connections of the server
void add_metrics_routes(Router& router, ServingContext& context, std::function<ConnectionCounts()> connections);

}  // namespace dragoman::serving
