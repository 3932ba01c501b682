#include "decoding/length_groups.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace dragoman::decoding {

std::vector<LengthGroup> group_by_length(std::span<const int64_t> lengths, int64_t max_tokens) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t item) { return lengths[item]; });
  std::vector<LengthGroup> groups;
  for (const size_t item : order) {
    if (groups.empty() || groups.back().tokens + lengths[item] > max_tokens) {
      groups.emplace_back();
    }
    groups.back().items.push_back(item);
    groups.back().tokens += lengths[item];
  }
  return groups;
}

}  // namespace dragoman::decoding
