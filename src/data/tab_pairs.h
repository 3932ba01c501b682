#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/stored_pairs.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// A text and what a model shall make of it.
struct TabPair {
  std::string input, target;
  std::string place;     ///< "train.tsv:17"
  std::string far = {};  ///< of read_tab_triples: a text that is unlike the input
};

/// Reads files of lines INPUT TAB TARGET. Blank lines are left out.
/// Throws: Error(kBadData) for a line with no tab or with several, "train.tsv:17: has 3 fields, must be INPUT TAB
/// TARGET", and for an empty input or target.
[[nodiscard]] std::vector<TabPair> read_tab_pairs(const std::vector<std::filesystem::path>& files);

/// Reads such lines, or lines INPUT TAB TARGET TAB FAR. All lines have as many fields as the first.
/// Throws: Error(kBadData) as read_tab_pairs; "train.tsv:17: has 2 fields, the first line has 3; give each line a text
/// that is unlike its first one, or none".
[[nodiscard]] std::vector<TabPair> read_tab_triples(const std::vector<std::filesystem::path>& files);

/// Such pairs as ids, in memory: the examples of text-to-text learning. Pairs with a longer side are left out.
class TabPairs : public StoredPairs {
 public:
  /// @param max_length  of a side in pieces, with its end
  /// Throws: Error(kBadData) if no pair is left.
  TabPairs(const std::vector<TabPair>& pairs, const Vocabulary& vocabulary, int64_t max_length);
};

}  // namespace dragoman::data
