#pragma once

#include "data/lexical_table.h"
#include "data/vocabulary/vocabulary.h"
#include "decoding/shortlist.h"

namespace dragoman::decoding {

/// What a shortlist is made of.
struct ShortlistOptions {
  int frequent = 100;
  int best = 100;
  data::LexicalOptions alignment = {};

  static constexpr const char* kTitle = "Size of the list";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
  template <typename Visit>
  static void parts(Visit&& visit) {
    visit(&ShortlistOptions::alignment);
  }
  /// Throws Error(kUsage) naming field, value and range.
  void check() const;
};

template <typename Visit>
void ShortlistOptions::fields(Visit&& visit) {
  using base::Field;
  using O = ShortlistOptions;
  visit(Field("frequent", &O::frequent, "Target pieces that every sentence may use: the most frequent ones",
              {0, 1'000'000}));
  visit(Field("best", &O::best, "Target pieces that each source piece allows: the likeliest ones", {1, 100'000}));
}

/// A shortlist, and how it fits the text that it was learned from.
struct LearnedShortlist {
  Shortlist shortlist;
  uint64_t pairs_used = 0;    ///< of the text; fewer than there are when they are too many for the aligner
  double mean_allowed = 0.0;  ///< target pieces that a sentence may use, the mean over up to 10,000 pairs
  double covered = 0.0;       ///< share of the pieces of the translations of these pairs that are allowed, 0 to 1
};

/// Learns a shortlist from pairs that translate each other. Codes of languages that translations begin with are allowed
/// in every translation. A source piece gets the `best` target pieces with the
/// largest p(t | s) of data::learn_lexical_table (ties to the lower id; none below 1 / 10,000), and the target piece
/// of the same text where there is one, since names and numbers are copied.
LearnedShortlist learn_shortlist(const data::NumberedPairs& pairs, const data::VocabularyPair& vocabularies,
                                 const ShortlistOptions& options);

}  // namespace dragoman::decoding
