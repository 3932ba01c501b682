#include "report/attention_history.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::report {
namespace {

using nlohmann::json;

// Three decimals are more than a picture shows.
double short_weight(float weight) {
  return std::isfinite(weight) ? std::round(static_cast<double>(weight) * 1000.0) / 1000.0 : 0.0;
}

json to_tree(const HeatMap& map) {
  json weights = json::array();
  for (const float weight : map.weights) {
    weights.push_back(short_weight(weight));
  }
  return {{"title", map.title},     {"row_axis", map.row_axis},     {"column_axis", map.column_axis},
          {"rows", map.row_labels}, {"columns", map.column_labels}, {"weights", std::move(weights)}};
}

HeatMap to_map(const json& tree, const std::string& name) {
  HeatMap map{tree.at("title"), tree.at("row_axis"), tree.at("column_axis"),
              tree.at("rows"),  tree.at("columns"),  tree.at("weights").get<std::vector<float>>()};
  base::check_data(map.weights.size() == map.row_labels.size() * map.column_labels.size(),
                   "{}: a map has {} weights, but {} rows and {} columns", name, map.weights.size(),
                   map.row_labels.size(), map.column_labels.size());
  return map;
}

// Drops every second set but the newest.
void thin(std::vector<AttentionSet>& sets) {
  std::vector<AttentionSet> kept;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (i % 2 == 0 || i + 1 == sets.size()) {
      kept.push_back(std::move(sets[i]));
    }
  }
  sets = std::move(kept);
}

std::vector<AttentionSet> read_sets(const std::filesystem::path& path, int64_t resume_step) {
  try {
    if (resume_step == 0 || !std::filesystem::exists(path)) {
      return {};
    }
    std::vector<AttentionSet> sets = parse_attention_sets(base::read_file(path), path.string());
    std::erase_if(sets, [&](const AttentionSet& set) { return set.step > resume_step; });
    return sets;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

std::string attention_sets_json(const std::vector<AttentionSet>& sets) {
  json tree = json::array();
  for (const AttentionSet& set : sets) {
    json maps = json::array();
    for (const HeatMap& map : set.maps) {
      maps.push_back(to_tree(map));
    }
    tree.push_back({{"step", set.step}, {"maps", std::move(maps)}});
  }
  return base::dump_json(tree) + "\n";
}

std::vector<AttentionSet> parse_attention_sets(const std::string& text, const std::string& name) {
  std::vector<AttentionSet> sets;
  for (const json& entry : base::parse_json(text, name)) {
    AttentionSet set{entry.at("step").get<int64_t>(), {}};
    for (const json& map : entry.at("maps")) {
      set.maps.push_back(to_map(map, name));
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

AttentionHistory::AttentionHistory(std::filesystem::path path, int64_t resume_step)
    : path_(std::move(path)), sets_(read_sets(path_, resume_step)) {}

void AttentionHistory::add(AttentionSet set) {
  if (set.maps.empty()) {
    return;
  }
  sets_.push_back(std::move(set));
  if (sets_.size() > kMostSets) {
    thin(sets_);
  }
  base::write_file_atomic(path_, attention_sets_json(sets_));
}

}  // namespace dragoman::report
