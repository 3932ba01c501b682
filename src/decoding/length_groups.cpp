#include "decoding/length_groups.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace dragoman::decoding {

std::vector<LengthGroup> group_by_length(std::span<const int64_t> lengths, int64_t max_tokens, int64_t n_workers) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t item) { return lengths[item]; });
  return group_in_order(order, lengths, max_tokens, n_workers);
}

std::vector<LengthGroup> group_in_order(std::span<const size_t> order, std::span<const int64_t> lengths,
                                        int64_t max_tokens, int64_t n_workers) {
  const int64_t total = std::max<int64_t>(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}), 1);
  const int64_t round = n_workers * max_tokens;  // a group for every worker
  const int64_t n_groups = n_workers * ((total + round - 1) / round);
  std::vector<LengthGroup> groups;
  int64_t before = 0;    // tokens of the items so far
  int64_t previous = 0;  // which of the equal parts of the row the last item's middle is in
  for (const size_t item : order) {
    const int64_t part = std::min((2 * before + lengths[item]) * n_groups / (2 * total), n_groups - 1);
    if (groups.empty() || part != previous) {
      groups.emplace_back();
    }
    groups.back().items.push_back(item);
    groups.back().tokens += lengths[item];
    before += lengths[item];
    previous = part;
  }
  return groups;
}

}  // namespace dragoman::decoding
