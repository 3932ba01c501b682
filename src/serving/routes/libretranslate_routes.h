#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// The interface of LibreTranslate, with its fields, shapes, statuses and error texts (docs/serving.md):
/// POST /translate, GET /languages, POST /detect, GET /health, GET /frontend/settings, POST /translate_file,
/// GET /download_file/..., POST /suggest.
/// @param context  outlives the router
void add_libretranslate_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
