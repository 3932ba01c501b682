#include "serving/routes/page_routes.h"

#include "serving/page/page_assets.h"

namespace dragoman::serving {
namespace {

Reply page_file(const Request& request) {
  const Asset* asset = find_asset(request.path);
  if (asset == nullptr) {
    throw HttpError(status::kNotFound, "Not found");
  }
  return {.content_type = std::string(asset->content_type),
          .body = std::string(asset->bytes),
          .headers = {{"Cache-Control", "no-cache"}}};
}

}  // namespace

void add_page_routes(Router& router) {
  router.add("GET", "/", ErrorShape::kLibreTranslate, page_file);
  router.add_prefix("GET", "/assets/", ErrorShape::kLibreTranslate, page_file);
  router.add_prefix("GET", "/docs/", ErrorShape::kLibreTranslate, page_file);
}

}  // namespace dragoman::serving
