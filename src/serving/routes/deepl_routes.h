#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds the interface of DeepL (docs/serving.md): POST /v2/translate, GET /v2/languages, /v2/usage and /v3/languages.
/// Each answer has the header X-Trace-ID. Its glossaries are in glossary_routes.h.
/// Requires: `context` outlives the router.
void add_deepl_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
