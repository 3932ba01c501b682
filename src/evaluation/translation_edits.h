#pragma once

#include <cstdint>

#include "evaluation/ngrams.h"

namespace dragoman::evaluation {

/// Returns the number of edits that turn `hypothesis` into `reference`. An edit inserts, deletes or replaces a word, or
/// shifts up to 10 words to another place, by at most 50 places. Shifts are chosen one by one, each the one that
/// reduces the edit distance most, until none does. The search has the limits of Tercom: the edit distance is computed
/// near the diagonal only, and after 1,000 tried shifts no further shift is made. So the number can be larger than the
/// smallest possible. Against an empty reference each word of the hypothesis is an edit.
/// Source: Snover et al. 2006, "A Study of Translation Edit Rate", section 3.1; limits and ties as in sacreBLEU 2.6.
int64_t translation_edits(const Symbols& hypothesis, const Symbols& reference);

}  // namespace dragoman::evaluation
