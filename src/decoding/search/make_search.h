#pragma once

#include <memory>

#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// The search that the options and the sentence ask for: alternatives of the next token, samples for a temperature,
/// greedy search for beam_size 1 without patience, phrases or a tree to keep, otherwise beam search.
/// Throws Error(kUsage): "phrases: sampling cannot be made to hold phrases; ..."; for a phrase that is demanded and
/// banned, "phrases: "Hunde" is demanded, and "Hund" is banned; leave out one of them".
std::unique_ptr<SentenceSearch> make_search(const SearchOptions& options, const SearchLimits& limits,
                                            const SentenceRequest& request = {});

}  // namespace dragoman::decoding
