#pragma once

#include <nlohmann/json_fwd.hpp>

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Returns what the page asks of every server of models before it begins, a part of the answer of GET
/// /frontend/settings: {"charLimit": 5000, "apiKeys": false, "keyRequired": false, "languageModels": [{"id": "my-gpt",
/// "context": 1024}], "encoders": [{"id": "my-tagger", "context": 128, "head": "tags", "labels": ["B-X", "O"], "mask":
/// "[MASK]"}]}.
[[nodiscard]] nlohmann::json page_settings(const ServingContext& context);

/// Adds GET /frontend/settings of a server without models that translate; add_libretranslate_routes adds it for others.
void add_page_settings(Router& router, const ServingContext& context);

}  // namespace dragoman::serving
