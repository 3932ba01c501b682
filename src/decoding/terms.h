#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman::decoding {

/// Terminology: a source term that stands in a line demands its target phrase in the translation.
class TermTable {
 public:
  TermTable() = default;
  /// @param lines  "source<TAB>target" each; blank lines are left out. The last of two lines for one source counts. Two
  /// more columns may hold the languages, "source<TAB>target<TAB>en<TAB>de", as DeepL exports them; they must be the
  /// same in all lines that have them.
  /// @param name  the file named in errors. Throws Error(kBadData): "terms.tsv line 3: \"Haus\" has no tab; a line is
  /// a source term, a tab, and the phrase that translates it"; "terms.tsv line 3: has 3 columns, ...".
  TermTable(std::span<const std::string> lines, std::string_view name);

  /// Target phrases of the terms found in a line, each once, in the order found. At each place the longest term counts,
  /// and terms do not overlap. Letters must match as they are. A term does not begin or end inside a word; scripts
  /// written without spaces, and Korean, have no such borders (see is_word_character).
  std::vector<std::string> find(std::string_view line) const;
  bool empty() const { return targets_.empty(); }
  /// Target phrases by source term.
  const std::unordered_map<std::string, std::string>& targets() const { return targets_; }

 private:
  std::unordered_map<std::string, std::string> targets_;
  std::set<size_t, std::greater<>> lengths_;  // of the source terms, bytes
};

}  // namespace dragoman::decoding
