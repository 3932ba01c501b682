#pragma once

#include <cstdint>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

// Sentinels are pieces that stand for the parts that are cut out of a text (Raffel et al. 2020, section 3.1.4). They
// are in the piece list of a vocabulary. A text may contain them, and decoding writes them.

/// Returns the ids of <extra_id_0>, <extra_id_1> and so on, as many as the vocabulary has.
[[nodiscard]] std::vector<int32_t> sentinel_ids(const Vocabulary& vocabulary);

/// Returns the vocabulary with `count` sentinels behind its pieces, the last one first, as T5 has them.
/// Throws: Error(kUsage) unless it is a SentencePiece model without sentinels.
[[nodiscard]] Vocabulary with_sentinels(const Vocabulary& vocabulary, int64_t count);

}  // namespace dragoman::data
