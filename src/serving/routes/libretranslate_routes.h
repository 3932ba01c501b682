#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds the interface of LibreTranslate, with its fields, shapes, statuses and error texts (docs/serving.md): POST
/// /translate, GET /languages, POST /detect, GET /frontend/settings and POST /suggest. Its other routes are in
/// file_routes.h and health_routes.h.
/// Requires: `context` outlives the router.
void add_libretranslate_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
