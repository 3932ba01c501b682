#pragma once

#include <vector>

#include "base/random.h"
#include "data/batch.h"

namespace dragoman::test_support {

/// Returns: pairs of 1 to 12 random words each, ids 4 to 49, as tiny_config has them.
inline data::Batch random_batch(uint64_t seed, int sentences) {
  base::Random random(seed);
  const auto words = [&](size_t length) {
    std::vector<int32_t> ids(length);
    for (int32_t& id : ids) {
      id = 4 + static_cast<int32_t>(random.below(46));
    }
    return ids;
  };
  data::Batch batch;
  for (int sentence = 0; sentence < sentences; ++sentence) {
    data::SentencePair pair{static_cast<uint64_t>(sentence), words(1 + random.below(12)), words(1 + random.below(12))};
    pair.source.push_back(data::kEosId);
    data::append(batch, pair);
  }
  return batch;
}

}  // namespace dragoman::test_support
