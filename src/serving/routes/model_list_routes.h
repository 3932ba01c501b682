#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds GET /v1/models and GET /v1/models/{model} of OpenAI's interface: the models that have names, which are language
/// models and encoders. Requires: `context` outlives the router.
void add_model_list_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
