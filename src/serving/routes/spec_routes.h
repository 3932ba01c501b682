#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// GET /spec: what this server answers, as an OpenAPI 3.0 document, with the languages and limits it has now.
void add_spec_routes(Router& router, const ServingContext& context);

}  // namespace dragoman::serving
