#pragma once

#include "serving/http/router.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Translation of files as LibreTranslate has it: POST /translate_file (multipart: file, source, target, api_key) gives
/// {"translatedFileUrl": URL}, GET /download_file/NAME the file. Text files (.txt) of UTF-8, as long as a body may be,
/// line by line.
void add_file_routes(Router& router, ServingContext& context);

}  // namespace dragoman::serving
