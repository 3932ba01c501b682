#pragma once

#include "serving/http/router.h"

namespace dragoman::serving {

/// GET / and GET /assets/...: the web page, from the program itself (find_asset). No file is ever opened.
void add_page_routes(Router& router);

}  // namespace dragoman::serving
