#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// The interface of DeepL, version 2, as far as a server without glossaries has it (docs/serving.md): POST
/// /v2/translate, GET /v2/languages, /v2/usage, /v2/glossary-language-pairs, /v2/glossaries and GET /v3/languages.
/// Every answer of these carries X-Trace-ID.
void add_deepl_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
