#include "serving/spec_routes.h"

#include "serving/spec_document.h"

namespace dragoman::serving {

void add_spec_routes(Router& router) {
  router.add("GET", "/spec", ErrorShape::kLibreTranslate,
             [](const Request&) { return Reply{.body = std::string(spec_document())}; });
}

}  // namespace dragoman::serving
