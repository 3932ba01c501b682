#pragma once

#include "serving/router.h"

namespace dragoman::serving {

/// GET /spec: what this server answers, as an OpenAPI 3.0 document.
void add_spec_routes(Router& router);

}  // namespace dragoman::serving
