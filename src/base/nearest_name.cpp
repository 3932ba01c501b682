#include "base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dragoman::base {

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  const auto distance = [&](const std::string& other) {
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < name.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i + 1);
      for (size_t j = 0; j < other.size(); ++j) {
        const size_t replaced = diagonal + (name[i] == other[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
      }
    }
    return row.back();
  };
  return known.empty() ? "" : *std::ranges::min_element(known, {}, distance);
}

}  // namespace dragoman::base
