#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "decoding/parallel_search.h"

namespace dragoman::decoding {

using Sources = std::vector<std::vector<int32_t>>;

/// Searches `group` sentences at a time, one group after the other. Returns: the outputs in the order of the sources.
inline std::vector<SearchOutput> search_in_groups(const ParallelSearch& search, const Sources& sources, size_t group,
                                                  const SearchOptions& options) {
  std::vector<SearchOutput> outputs;
  for (size_t begin = 0; begin < sources.size(); begin += group) {
    const size_t count = std::min(group, sources.size() - begin);
    for (SearchOutput& output : search.run(std::span(sources).subspan(begin, count), options)) {
      outputs.push_back(std::move(output));
    }
  }
  return outputs;
}

}  // namespace dragoman::decoding
