#include "decoding/search/search_defaults.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "models/transformer/transformer_config.h"

namespace dragoman::decoding {
namespace {

using nlohmann::json;

constexpr const char* kBeamSize = "beam_size";
constexpr const char* kLengthPenalty = "length_penalty";
constexpr const char* kAlpha = "alpha";
constexpr const char* kBeamRule = "beam_rule";  // written only where it is not the default

SearchOptions parse(const json& tree, std::string_view file_name) {
  base::check_data(tree.is_object(), "{}: must be a JSON object", file_name);
  const std::vector<std::string> known = {kAlpha, kBeamRule, kBeamSize, kLengthPenalty};
  SearchOptions options;
  for (const auto& [key, value] : tree.items()) {
    if (key == kBeamSize) {
      base::check_data(value.is_number_integer() && value >= json(0) && value <= json(1 << 20),
                       "{}: beam_size must be an integer, is {}", file_name, base::dump_json(value));
      options.beam_size = value.get<int>();
    } else if (key == kLengthPenalty) {
      base::check_data(value.is_string(), "{}: length_penalty must be a string, is {}", file_name,
                       base::dump_json(value));
      options.length_penalty = length_penalty_from(value.get<std::string>());
    } else if (key == kBeamRule) {
      base::check_data(value.is_string(), "{}: beam_rule must be a string, is {}", file_name, base::dump_json(value));
      options.beam_rule = beam_rule_from(value.get<std::string>());
    } else {
      base::check_data(key == kAlpha, "{}: unknown key \"{}\"; did you mean \"{}\"?", file_name, key,
                       models::nearest_name(key, known));
      base::check_data(value.is_number(), "{}: alpha must be a number, is {}", file_name, base::dump_json(value));
      options.alpha = value.get<double>();
    }
  }
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
  return text.empty() ? SearchOptions{} : parse(base::parse_json(text, file_name), file_name);
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

}  // namespace dragoman::decoding
