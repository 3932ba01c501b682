#include "decoding/search/search_defaults.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/field_json.h"
#include "base/json.h"

namespace dragoman::decoding {

bool is_stored_with_model(std::string_view field) {
  constexpr std::array<std::string_view, 4> kStored = {"alpha", "beam_rule", "beam_size", "length_penalty"};
  return std::ranges::find(kStored, field) != kStored.end();
}

namespace {

constexpr auto kIsStored = [](const auto& field) { return is_stored_with_model(field.name); };

}  // namespace

std::string search_defaults_json(const SearchOptions& options) {
  nlohmann::json tree = base::json_of_fields(options, kIsStored);
  if (options.beam.rule == SearchOptions{}.beam.rule) {
    tree.erase("beam_rule");  // as in files from before it was an option
  }
  return base::dump_json(tree, 2) + "\n";
}

SearchOptions search_defaults_from_json(std::string_view text, std::string_view file_name) try {
  SearchOptions options;
  if (!text.empty()) {
    const nlohmann::json tree = base::parse_json(text, file_name);
    const base::JsonFields fields(tree, std::string(file_name));
    fields.check_known(base::names_of_fields<SearchOptions>(kIsStored));
    base::read_fields(fields, options, kIsStored);
    options.check();
  }
  return options;
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

}  // namespace dragoman::decoding
