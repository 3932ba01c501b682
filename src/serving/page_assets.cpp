#include "serving/page_assets.h"

#include <algorithm>

namespace dragoman::serving {
namespace {

constexpr std::string_view kPrefix = "/assets/";

std::string_view media_type_of(std::string_view name) {
  const std::string_view extension = name.substr(name.find_last_of('.') + 1);
  return extension == "html"  ? "text/html; charset=utf-8"
         : extension == "css" ? "text/css; charset=utf-8"
         : extension == "js"  ? "text/javascript; charset=utf-8"
         : extension == "svg" ? "image/svg+xml"
                              : "application/octet-stream";
}

}  // namespace

std::optional<PageAsset> find_page_asset(std::string_view path) {
  if (path == "/") {
    path = "/assets/index.html";
  }
  if (!path.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view name = path.substr(kPrefix.size());
  const auto files = embedded_files();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  if (found == files.end()) {
    return std::nullopt;
  }
  return PageAsset{media_type_of(name), found->content};
}

std::string_view page_security_policy() {
  return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
         "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

}  // namespace dragoman::serving
