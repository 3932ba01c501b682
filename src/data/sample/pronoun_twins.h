#pragma once

#include <span>
#include <vector>

#include "data/sample/pronouns.h"

namespace dragoman::data {

/// Two neighbouring test sentences that differ only in what "it" stands for: the antecedent of each is the rival of the
/// other.
struct PronounTwins {
  PronounRow first, second;
};

/// Returns the twins among rows in the order of the test part. A row belongs to at most one pair.
[[nodiscard]] std::vector<PronounTwins> pronoun_twins(std::span<const PronounRow> rows);

}  // namespace dragoman::data
