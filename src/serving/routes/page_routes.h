#pragma once

#include "serving/http/router.h"

namespace dragoman::serving {

/// Adds GET / and GET /assets/..., the web page. Its files are part of the program (find_asset); no file is opened.
void add_page_routes(Router& router);

}  // namespace dragoman::serving
