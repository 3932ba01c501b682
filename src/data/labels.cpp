#include "data/labels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace dragoman::data {
namespace {

constexpr size_t kMostListed = 10;

bool has_control(const std::string& name) {
  return std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

Labels::Labels(std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t id = 0; id < names_.size(); ++id) {
    base::check_data(!names_[id].empty() && !has_control(names_[id]),
                     "labels: label {} is \"{}\"; a label must have characters and no control characters", id,
                     names_[id]);
    base::check_data(ids_.emplace(names_[id], static_cast<int32_t>(id)).second,
                     "labels: \"{}\" occurs twice, each label must have a name of its own", names_[id]);
  }
}

int32_t Labels::id(std::string_view name) const {
  const auto found = ids_.find(std::string(name));
  return found == ids_.end() ? -1 : found->second;
}

std::string Labels::listed() const {
  const std::vector<std::string> first(
      names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(std::min(kMostListed, names_.size())));
  const std::string more = names_.size() > kMostListed ? fmt::format(" and {} more", names_.size() - kMostListed) : "";
  return fmt::format("{}{}", fmt::join(first, ", "), more);
}

std::string Labels::to_json() const {
  return base::dump_json({{"labels", names_}}, 2) + "\n";
}

Labels Labels::from_json(std::string_view text, const std::string& file_name) {
  const nlohmann::json tree = base::parse_json(text, file_name);
  const bool has_list = tree.is_object() && tree.contains("labels") && tree["labels"].is_array();
  base::check_data(has_list, "{}: must be an object with a list \"labels\"", file_name);
  std::vector<std::string> names;
  for (const nlohmann::json& name : tree["labels"]) {
    base::check_data(name.is_string(), "{}: labels[{}] must be a text", file_name, names.size());
    names.push_back(name.get<std::string>());
  }
  try {
    return Labels(std::move(names));
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}: {}", file_name, error.what());
  }
}

Labels labels_of(std::vector<std::string> found) {
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return Labels(std::move(found));
}

Labels numbered_labels(int64_t count) {
  std::vector<std::string> names;
  for (int64_t id = 0; id < count; ++id) {
    names.push_back(std::to_string(id));
  }
  return Labels(std::move(names));
}

}  // namespace dragoman::data
