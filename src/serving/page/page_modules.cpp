#include "serving/page/page_modules.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "serving/page/page_assets.h"

namespace dragoman::serving {
namespace {

constexpr std::string_view kFrom = "from \"/assets/";

std::string_view text_of(std::string_view name) {
  const Asset* asset = find_asset(fmt::format("/assets/{}", name));
  base::check_argument(asset != nullptr, "page: there is no file {}; give the name of one in src/serving/page/", name);
  return asset->bytes;
}

// The script with bare names in its imports; `visit` is called with each name.
template <typename Visit>
std::string with_bare_names(std::string_view script, Visit visit) {
  std::string result;
  for (size_t begin = 0; begin < script.size();) {
    const size_t found = script.find(kFrom, begin);
    if (found == std::string_view::npos) {
      return result.append(script.substr(begin));
    }
    const size_t name = found + kFrom.size();
    const size_t end = script.find('"', name);
    result.append(script.substr(begin, found - begin)).append("from \"assets/");
    visit(script.substr(name, end - name));
    begin = name;
  }
  return result;
}

}  // namespace

std::string import_map(std::string_view entry, const std::map<std::string, std::string, std::less<>>& stand_ins) {
  nlohmann::json imports = nlohmann::json::object();
  std::vector<std::string> waiting = {std::string(entry)};
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    const std::string key = "assets/" + name;
    if (imports.contains(key)) {
      continue;
    }
    const auto stand_in = stand_ins.find(name);
    const std::string script = with_bare_names(text_of(stand_in == stand_ins.end() ? name : stand_in->second),
                                               [&](std::string_view other) { waiting.emplace_back(other); });
    imports[key] = "data:text/javascript;base64," + base::base64(std::as_bytes(std::span(script)));
  }
  return base::dump_json({{"imports", std::move(imports)}});
}

std::string page_texts(std::initializer_list<std::string_view> names) {
  std::string texts;
  for (const std::string_view name : names) {
    texts += text_of(name);
  }
  return texts;
}

}  // namespace dragoman::serving
