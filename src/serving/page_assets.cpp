#include "serving/page_assets.h"

namespace dragoman::serving {
namespace {

constexpr Asset kPage{"/", "text/html; charset=utf-8",
                      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>dragoman</title>\n"
                      "<h1>dragoman</h1>\n<p>This server translates. <a href=\"/spec\">What it answers</a>.</p>\n"};

}  // namespace

const Asset* find_asset(std::string_view path) {
  return path == kPage.path ? &kPage : nullptr;
}

}  // namespace dragoman::serving
