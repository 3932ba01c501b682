#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Adds LibreTranslate's translation of files. POST /translate_file (multipart: file, source, target, api_key) answers
/// {"translatedFileUrl": URL}, and GET /download_file/NAME answers the file. A file is UTF-8 text (.txt), no longer
/// than a body, and is translated line by line.
/// Requires: `context` outlives the router.
void add_file_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
