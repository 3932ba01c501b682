#include "data/tab_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "data/text/text_file.h"

namespace dragoman::data {
namespace {

TabPair pair_of(const std::string& line, std::string place) {
  const auto tabs = std::ranges::count(line, '\t');
  base::check_data(tabs == 1, "{}: has {} fields, must be INPUT TAB TARGET", place, tabs + 1);
  const size_t tab = line.find('\t');
  TabPair pair{line.substr(0, tab), line.substr(tab + 1), std::move(place)};
  for (const auto& [side, text] : {std::pair("input", &pair.input), std::pair("target", &pair.target)}) {
    base::check_data(!base::trim(*text, " ").empty(), "{}: the {} is empty, must be INPUT TAB TARGET", pair.place,
                     side);
  }
  return pair;
}

}  // namespace

std::vector<TabPair> read_tab_pairs(const std::vector<std::filesystem::path>& files) {
  std::vector<TabPair> pairs;
  for (const std::filesystem::path& file : files) {
    LineReader reader(file);
    for (std::string line; reader.next(line);) {
      if (!base::trim(line, " \t").empty()) {
        pairs.push_back(pair_of(line, fmt::format("{}:{}", file.string(), reader.lines_read())));
      }
    }
  }
  return pairs;
}

TabPairs::TabPairs(const std::vector<TabPair>& pairs, const Vocabulary& vocabulary, int64_t max_length)
    : StoredPairs(max_length) {
  for (const TabPair& text : pairs) {
    ++statistics_.read;
    SentencePair pair{
        .line = size(), .source = encode_source(vocabulary, text.input), .target = vocabulary.encode(text.target)};
    if (pair.source.empty() || pair.target.empty()) {
      statistics_.drop(pair.source.empty() ? DropReason::kSourceEmpty : DropReason::kTargetEmpty, text.place);
      continue;
    }
    if (pair.source_tokens() > max_length || pair.target_tokens() > max_length) {
      statistics_.drop(pair.source_tokens() > max_length ? DropReason::kSourceTooLong : DropReason::kTargetTooLong,
                       text.place);
      continue;
    }
    add(std::move(pair), text.place);
  }
  base::check_data(size() > 0, "{}; nothing is left to use", statistics_.report());
}

}  // namespace dragoman::data
