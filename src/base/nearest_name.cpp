#include "base/nearest_name.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace dragoman::base {
namespace {

constexpr size_t kLettersAMistake = 3;  // a name of so many letters may have one wrong
constexpr size_t kShortestBeginning = 2;

// Without dashes in front, in lower case.
std::string letters_of(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  return ascii_lower_case(name);
}

// The edit distance in which a swap of two neighbours counts once (optimal string alignment).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({replaced, table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table.back().back();
}

// The number of edits between two names, if that is few.
std::optional<size_t> few_edits(const std::string& written, const std::string& letters, size_t least_allowed) {
  const size_t longer = std::max(written.size(), letters.size());
  const size_t shorter = std::min(written.size(), letters.size());
  const bool begins = written.size() >= kShortestBeginning && letters.starts_with(written);
  const size_t most = std::max(longer / kLettersAMistake, least_allowed);
  if (!begins && longer - shorter > most) {
    return std::nullopt;  // also spares the table of a name of megabytes
  }
  const size_t edits = distance(written, letters);
  return begins || edits <= most ? std::optional(edits) : std::nullopt;
}

}  // namespace

std::string near_name(std::string_view name, const std::vector<std::string>& known) {
  const std::string written = letters_of(name);
  const std::string* nearest = nullptr;
  size_t smallest = 0;
  for (const std::string& entry : known) {
    const std::optional<size_t> edits = few_edits(written, letters_of(entry), 0);
    if (edits && (nearest == nullptr || *edits < smallest)) {
      nearest = &entry;
      smallest = *edits;
    }
  }
  return nearest == nullptr ? "" : *nearest;
}

std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& known, size_t most) {
  const std::string written = letters_of(name);
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& entry : known) {
    if (const std::optional<size_t> edits = few_edits(written, letters_of(entry), 1)) {
      near.emplace_back(*edits, entry);
    }
  }
  std::ranges::stable_sort(near, {}, &std::pair<size_t, std::string>::first);
  std::vector<std::string> names;
  for (const auto& [edits, entry] : near) {
    if (names.size() < most) {
      names.push_back(entry);
    }
  }
  return names;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known, std::string_view quote) {
  const std::string near = near_name(name, known);
  return near.empty() ? "" : std::string("; did you mean ").append(quote).append(near).append(quote).append("?");
}

}  // namespace dragoman::base
