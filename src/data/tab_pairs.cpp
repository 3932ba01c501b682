#include "data/tab_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "data/text/text_file.h"

namespace dragoman::data {
namespace {

constexpr const char* kTwo = "INPUT TAB TARGET";
constexpr const char* kThree = "INPUT TAB TARGET, or INPUT TAB TARGET TAB FAR";

// @param form  what a line must be, for errors
TabPair pair_of(const std::string& line, std::string place, const char* form) {
  const size_t tab = line.find('\t'), next = line.find('\t', tab + 1);
  const bool has_far = next != std::string::npos;
  TabPair pair{line.substr(0, tab), line.substr(tab + 1, has_far ? next - tab - 1 : next), std::move(place)};
  pair.far = has_far ? line.substr(next + 1) : "";
  for (const auto& [side, text] :
       {std::pair("input", &pair.input), std::pair("target", &pair.target), std::pair("far text", &pair.far)}) {
    const bool is_missing = text == &pair.far && !has_far;
    base::check_data(is_missing || !base::trim(*text, " ").empty(), "{}: the {} is empty, must be {}", pair.place, side,
                     form);
  }
  return pair;
}

// @param most  fields of a line; all lines have as many as the first
std::vector<TabPair> read_tab_lines(const std::vector<std::filesystem::path>& files, int64_t most) {
  const char* const form = most == 2 ? kTwo : kThree;
  std::vector<TabPair> pairs;
  int64_t first = 0;  // fields of the first line
  for (const std::filesystem::path& file : files) {
    LineReader reader(file);
    for (std::string line; reader.next(line);) {
      if (!base::trim(line, " \t").empty()) {
        std::string place = fmt::format("{}:{}", file.string(), reader.lines_read());
        const int64_t fields = std::ranges::count(line, '\t') + 1;
        base::check_data(fields >= 2 && fields <= most, "{}: has {} fields, must be {}", place, fields, form);
        first = first == 0 ? fields : first;
        base::check_data(
            fields == first,
            "{}: has {} fields, the first line has {}; give each line a text that is unlike its first one, "
            "or none",
            place, fields, first);
        pairs.push_back(pair_of(line, std::move(place), form));
      }
    }
  }
  return pairs;
}

}  // namespace

std::vector<TabPair> read_tab_pairs(const std::vector<std::filesystem::path>& files) {
  return read_tab_lines(files, 2);
}

std::vector<TabPair> read_tab_triples(const std::vector<std::filesystem::path>& files) {
  return read_tab_lines(files, 3);
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
