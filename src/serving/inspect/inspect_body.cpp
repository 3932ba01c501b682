#include "serving/inspect/inspect_body.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr size_t kMostParts = 64;
constexpr int64_t kMaxCandidates = 100;
constexpr int kMaxBeam = 16;  // a wider tree cannot be drawn clearly
constexpr base::JsonLimits kLimits{size_t{256} << 10, 8};

const std::map<std::string, PartKind, std::less<>>& part_kinds() {
  static const std::map<std::string, PartKind, std::less<>> kinds = {
      {"weights", PartKind::kWeights},          {"head", PartKind::kHead},           {"residual", PartKind::kResidual},
      {"feed_forward", PartKind::kFeedForward}, {"embedding", PartKind::kEmbedding}, {"output", PartKind::kOutput},
      {"candidates", PartKind::kCandidates},    {"logits", PartKind::kLogits},       {"beam", PartKind::kBeam}};
  return kinds;
}

// An object of a request. Each key is read with its type and range.
class Fields {
 public:
  Fields(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    base::check_usage(object.is_object(), "inspect: {} must be a JSON object", place_.empty() ? "the body" : place_);
  }

  void check_keys(const std::vector<std::string>& known) const {
    for (const auto& [key, value] : object_.items()) {
      base::check_usage(std::ranges::find(known, key) != known.end(), "inspect: unknown key \"{}\"; known: {}",
                        name_of(key), fmt::join(known, ", "));
    }
  }
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }

  std::string text(const char* key) const {
    if (!has(key)) {
      return {};
    }
    base::check_usage(object_[key].is_string(), "inspect: {} must be a string", name_of(key));
    return object_[key].get<std::string>();
  }
  int64_t integer(const char* key, int64_t otherwise, int64_t low, int64_t high) const {
    if (!has(key)) {
      return otherwise;
    }
    const json& value = object_[key];
    const bool fits = value.is_number_integer() && value.get<double>() >= static_cast<double>(low) &&
                      value.get<double>() <= static_cast<double>(high);
    base::check_usage(fits, "inspect: {} is {}, must be a whole number from {} to {}", name_of(key),
                      base::dump_json(value).substr(0, 40), low, high);
    return value.get<int64_t>();
  }
  double number(const char* key) const {
    base::check_usage(object_[key].is_number(), "inspect: {} must be a number", name_of(key));
    return object_[key].get<double>();
  }
  const json& list(const char* key) const {
    static const json kNone = json::array();
    if (!has(key)) {
      return kNone;
    }
    base::check_usage(object_[key].is_array(), "inspect: {} must be a list", name_of(key));
    return object_[key];
  }
  std::string name_of(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }

 private:
  const json& object_;
  std::string place_;
};

InspectPart parse_part(const Fields& fields) {
  fields.check_keys({"part", "path", "head", "step", "count"});
  const std::string name = fields.text("part");
  const auto kind = part_kinds().find(name);
  if (kind == part_kinds().end()) {
    std::vector<std::string> known;
    for (const auto& [known_name, unused] : part_kinds()) {
      known.push_back(known_name);
    }
    base::fail(base::ErrorKind::kUsage, "inspect: {} is \"{}\"; known: {}", fields.name_of("part"), name,
               fmt::join(known, ", "));
  }
  InspectPart part{kind->second, name};
  part.path = fields.text("path");
  part.head = fields.integer("head", 0, 0, 1 << 20);
  part.step = fields.integer("step", 0, 0, 1 << 20);
  part.count = fields.integer("count", part.count, 1, kMaxCandidates);
  return part;
}

std::vector<int32_t> parse_ids(const json& list) {
  std::vector<int32_t> ids;
  for (const json& id : list) {
    base::check_usage(id.is_number_integer() && id.get<double>() >= 0 && id.get<double>() < 2147483647.0,
                      "inspect: target_ids[{}] must be a token id", ids.size());
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

}  // namespace

void InspectBody::complete(const decoding::SearchOptions& of_model) {
  decoding::SearchOptions& options = inspection.options;
  options = of_model;
  options.n_best = 1;
  options.beam_size = static_cast<int>(beam_size.value_or(std::min(of_model.beam_size, kMaxBeam)));
  options.alpha = alpha.value_or(of_model.alpha);
}

InspectBody parse_inspect_body(std::string_view body) {
  const json parsed = base::parse_json(body, "the body", kLimits);
  const Fields fields(parsed, "");
  fields.check_keys({"source", "target", "api_key", "text", "target_ids", "beam_size", "alpha", "parts"});
  InspectBody request;
  request.source = fields.text("source");
  request.target = fields.text("target");
  request.inspection.text = fields.text("text");
  request.api_key = fields.text("api_key");
  if (fields.has("beam_size")) {
    request.beam_size = fields.integer("beam_size", 0, 1, kMaxBeam);
  }
  if (fields.has("alpha")) {
    request.alpha = fields.number("alpha");
  }
  request.inspection.predicted = parse_ids(fields.list("target_ids"));
  const json& parts = fields.list("parts");
  base::check_usage(parts.size() <= kMostParts, "inspect: {} parts, at most {} at a time", parts.size(), kMostParts);
  for (size_t i = 0; i < parts.size(); ++i) {
    request.parts.push_back(parse_part(Fields(parts[i], fmt::format("parts[{}]", i))));
  }
  return request;
}

}  // namespace dragoman::serving
