#include "serving/routes/spec_routes.h"

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "serving/routes/spec_document.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

json codes_for(const std::string& kind, const ServedModels& models) {
  const bool is_target = base::equal_ignoring_ascii_case(kind, "target");
  json codes = is_target ? models.targets() : models.sources();
  if (kind == "source-or-auto") {
    codes.push_back("auto");
  }
  for (json& code : codes) {
    code = kind == "SOURCE" || kind == "TARGET" ? base::ascii_upper_case(code.get<std::string>())
                                                : code.get<std::string>();
  }
  return codes;
}

// Visits the whole document. It is part of the program and not deep, so recursion is safe.
void fill_in(json& node, const ServedModels& models, const TextLimits& limits) {
  if (node.is_object() && node.contains("x-languages")) {
    node["enum"] = codes_for(node["x-languages"].get<std::string>(), models);
    if (node.value("nullable", false)) {
      node["enum"].push_back(nullptr);
    }
    node.erase("x-languages");
  }
  for (const auto& [name, limit] : {std::pair("maxLength", limits.characters), std::pair("maxItems", limits.texts)}) {
    if (node.is_object() && node.contains(name)) {
      node[name] = limit;
    }
  }
  if (node.is_structured()) {
    for (json& child : node) {
      fill_in(child, models, limits);
    }
  }
}

}  // namespace

void add_spec_routes(Router& router, const ServingContext& context) {
  router.add("GET", "/spec", ErrorShape::kLibreTranslate, [&router, &context](const Request&) {
    json document = json::parse(spec_document());
    json& paths = document["paths"];
    for (auto path = paths.begin(); path != paths.end();) {
      path = router.has(path.key()) ? std::next(path) : paths.erase(path);
    }
    fill_in(document, *context.models.get(), context.limits);
    return json_reply(document);
  });
}

}  // namespace dragoman::serving
