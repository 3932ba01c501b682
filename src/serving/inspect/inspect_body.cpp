#include "serving/inspect/inspect_body.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace dragoman::serving {
namespace {

using base::JsonFields;
using nlohmann::json;

constexpr size_t kMostParts = 64;
constexpr int64_t kMaxCandidates = 100;
constexpr int kMaxBeam = 16;  // a wider tree cannot be drawn clearly
constexpr base::JsonLimits kLimits{size_t{256} << 10, 8};

const std::map<std::string, PartKind, std::less<>>& part_kinds() {
  static const std::map<std::string, PartKind, std::less<>> kinds = {{"weights", PartKind::kWeights},
                                                                     {"head", PartKind::kHead},
                                                                     {"residual", PartKind::kResidual},
                                                                     {"feed_forward", PartKind::kFeedForward},
                                                                     {"embedding", PartKind::kEmbedding},
                                                                     {"output", PartKind::kOutput},
                                                                     {"candidates", PartKind::kCandidates},
                                                                     {"logits", PartKind::kLogits},
                                                                     {"beam", PartKind::kBeam},
                                                                     {"attention", PartKind::kAttention},
                                                                     {"parameter", PartKind::kParameter},
                                                                     {"running_mean", PartKind::kRunningMean},
                                                                     {"cell", PartKind::kCell},
                                                                     {"cell_sums", PartKind::kCellSums},
                                                                     {"first_state", PartKind::kFirstState},
                                                                     {"readout", PartKind::kReadout},
                                                                     {"attentional", PartKind::kAttentional},
                                                                     {"convolution", PartKind::kConvolution}};
  return kinds;
}

JsonFields fields_of(const json& object, std::string place) {
  return {object, "inspect", base::ErrorKind::kUsage, std::move(place)};
}

int64_t integer_or(const JsonFields& fields, const char* key, int64_t otherwise, int64_t low, int64_t high) {
  return fields.has(key) ? fields.integer(key, low, high) : otherwise;
}

const json& list_or_none(const JsonFields& fields, const char* key) {
  static const json kNone = json::array();
  return fields.has(key) ? fields.list(key) : kNone;
}

std::vector<int32_t> parse_ids(const json& list, const std::string& name) {
  std::vector<int32_t> ids;
  for (const json& id : list) {
    base::check_usage(id.is_number_integer() && id.get<double>() >= 0 && id.get<double>() < 2147483647.0,
                      "inspect: {}[{}] must be a token id", name, ids.size());
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

decoding::ParameterRegion parse_region(const JsonFields& fields) {
  decoding::ParameterRegion region;
  region.rows = parse_ids(list_or_none(fields, "rows"), fields.name_of("rows"));
  const std::vector<int32_t> columns = parse_ids(list_or_none(fields, "columns"), fields.name_of("columns"));
  base::check_usage(columns.empty() || (columns.size() == 2 && columns[0] < columns[1]),
                    "inspect: {} must be [first, end) with first below end", fields.name_of("columns"));
  if (!columns.empty()) {
    region.first_column = columns[0];
    region.end_column = columns[1];
  }
  return region;
}

// As /v1/completions reads them, so that the same fields give the same text. Without a temperature nothing is drawn.
decoding::SamplingOptions parse_sampling(const JsonFields& fields) {
  constexpr int64_t kMostCandidates = 1'000'000;
  decoding::SamplingOptions sampling;
  const auto number = [&](const char* key, double otherwise, double most) {
    const double value = fields.has(key) ? fields.number(key) : otherwise;
    base::check_usage(value >= 0.0 && value <= most, "inspect: {} is {}, must be 0 to {}", key, value, most);
    return value;
  };
  sampling.temperature = number("temperature", 0.0, 100.0);
  sampling.top_p = number("top_p", 1.0, 1.0);
  sampling.top_k = static_cast<int>(integer_or(fields, "top_k", 0, 0, kMostCandidates));
  sampling.seed = static_cast<uint64_t>(integer_or(fields, "seed", 1, 0, std::numeric_limits<int64_t>::max()));
  return sampling.temperature == 0.0 || sampling.top_p == 0.0 ? decoding::SamplingOptions() : sampling;
}

InspectPart parse_part(const JsonFields& fields) {
  fields.check_known({"part", "path", "head", "step", "count", "rows", "columns"});
  const std::string name = fields.text("part", "");
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
  part.path = fields.text("path", "");
  part.head = integer_or(fields, "head", 0, 0, 1 << 20);
  part.step = integer_or(fields, "step", 0, 0, 1 << 20);
  part.count = integer_or(fields, "count", part.count, 1, kMaxCandidates);
  part.region = parse_region(fields);
  return part;
}

}  // namespace

void InspectBody::refuse(std::initializer_list<const char*> keys, const char* owner) const {
  for (const char* key : keys) {
    base::check_usage(std::ranges::find(given, key) == given.end(), "inspect: {} is for {}", key, owner);
  }
}

void InspectBody::complete_for_language_model() {
  refuse({"beam_size", "alpha"}, "models that translate");
  inspection.options = decoding::GenerationOptions::generation_search();
  inspection.options.sampling = sampling;
}

void InspectBody::complete_for_encoder() const {
  refuse({"beam_size", "alpha", "max_tokens", "temperature", "top_k", "top_p", "seed", "target_ids"},
         "models that write");
}

void InspectBody::complete(const decoding::SearchOptions& of_model) {
  refuse({"max_tokens", "temperature", "top_k", "top_p", "seed"}, "language models");
  decoding::SearchOptions& options = inspection.options;
  options = of_model;
  options.n_best = 1;
  options.beam_size = static_cast<int>(beam_size.value_or(std::min(of_model.beam_size, kMaxBeam)));
  options.ranking.alpha = alpha.value_or(of_model.ranking.alpha);
}

InspectBody parse_inspect_body(std::string_view body) {
  const json parsed = base::parse_json(body, "the body", kLimits);
  const JsonFields fields = fields_of(parsed, "");
  fields.check_known({"source", "target", "model", "api_key", "text", "target_ids", "beam_size", "alpha", "max_tokens",
                      "temperature", "top_k", "top_p", "seed", "parts"});
  InspectBody request;
  for (const auto& [key, value] : parsed.items()) {
    if (!value.is_null()) {
      request.given.push_back(key);
    }
  }
  request.source = fields.text("source", "");
  request.target = fields.text("target", "");
  request.model = fields.text("model", "");
  request.inspection.text = fields.text("text", "");
  request.api_key = fields.text("api_key", "");
  if (fields.has("beam_size")) {
    request.beam_size = fields.integer("beam_size", 1, kMaxBeam);
  }
  if (fields.has("alpha")) {
    request.alpha = fields.number("alpha");
  }
  request.inspection.max_tokens = integer_or(fields, "max_tokens", request.inspection.max_tokens, 1, 1'000'000);
  request.sampling = parse_sampling(fields);
  request.inspection.predicted = parse_ids(list_or_none(fields, "target_ids"), "target_ids");
  const json& parts = list_or_none(fields, "parts");
  base::check_usage(parts.size() <= kMostParts, "inspect: {} parts, at most {} at a time", parts.size(), kMostParts);
  for (size_t i = 0; i < parts.size(); ++i) {
    request.parts.push_back(parse_part(fields_of(parts[i], fmt::format("parts[{}]", i))));
  }
  return request;
}

}  // namespace dragoman::serving
