#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman::data {

/// The names of what a model tells apart, such as classes of texts or tags of words, by id. Threads: any number; the
/// object is immutable.
class Labels {
 public:
  Labels() = default;
  /// Throws: Error(kBadData) for a name that is empty, has a control character or occurs twice.
  explicit Labels(std::vector<std::string> names);

  int64_t size() const { return static_cast<int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(int32_t id) const { return names_.at(static_cast<size_t>(id)); }
  /// Returns: -1 for an unknown name.
  int32_t id(std::string_view name) const;
  /// Returns: "0, 1, 2", at most ten of them.
  std::string listed() const;

  /// labels.json, {"labels": ["0", "1"]}, and back. Throws: Error(kBadData) with file and rule.
  std::string to_json() const;
  static Labels from_json(std::string_view text, const std::string& file_name);

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t> ids_;
};

/// Returns: the labels that occur in a text, in the order of their bytes. @param found  any number of times each
Labels labels_of(std::vector<std::string> found);

/// Returns: the labels "0", "1" and so on.
Labels numbered_labels(int64_t count);

}  // namespace dragoman::data
