#include "decoding/search/search_defaults.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace dragoman::decoding {
namespace {

using nlohmann::json;

constexpr const char* kBeamSize = "beam_size";
constexpr const char* kLengthPenalty = "length_penalty";
constexpr const char* kAlpha = "alpha";
constexpr const char* kBeamRule = "beam_rule";  // written only where it is not the default

SearchOptions parse(const base::JsonFields& fields) {
  fields.check_known({kAlpha, kBeamRule, kBeamSize, kLengthPenalty});
  SearchOptions options;
  if (fields.has(kBeamSize)) {
    options.beam_size = fields.integer<int>(kBeamSize);
  }
  if (fields.has(kLengthPenalty)) {
    options.length_penalty = length_penalty_from(fields.text(kLengthPenalty));
  }
  if (fields.has(kBeamRule)) {
    options.beam_rule = beam_rule_from(fields.text(kBeamRule));
  }
  options.alpha = fields.number(kAlpha, options.alpha);
  options.check();
  return options;
}

}  // namespace

std::string search_defaults_json(const SearchOptions& options) {
  json tree = {
      {kBeamSize, options.beam_size}, {kLengthPenalty, name_of(options.length_penalty)}, {kAlpha, options.alpha}};
  if (options.beam_rule != SearchOptions{}.beam_rule) {
    tree[kBeamRule] = name_of(options.beam_rule);
  }
  return base::dump_json(tree, 2) + "\n";
}

SearchOptions search_defaults_from_json(std::string_view text, std::string_view file_name) try {
  if (text.empty()) {
    return {};
  }
  const json tree = base::parse_json(text, file_name);
  return parse({tree, std::string(file_name)});
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

}  // namespace dragoman::decoding
