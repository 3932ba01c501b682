#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds the interface of DeepL, version 2, without glossaries (docs/serving.md): POST /v2/translate, GET /v2/languages,
/// /v2/usage, /v2/glossary-language-pairs, /v2/glossaries and /v3/languages. Each answer has the header X-Trace-ID.
/// Requires: `context` outlives the router.
void add_deepl_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
