#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "decoding/search/candidates.h"
#include "decoding/search/phrases.h"

namespace dragoman::decoding {

/// The number of phrases that one sentence can demand at most: the bits of PhraseProgress::met.
inline constexpr size_t kMostPhrases = 64;

/// How much of the phrases that must appear one hypothesis holds.
struct PhraseProgress {
  uint64_t met = 0;     ///< bit p: phrase p has appeared whole
  int32_t phrase = -1;  ///< the one whose beginning the text of the hypothesis ends with, -1 for none
  int32_t matched = 0;  ///< bytes of that beginning
};

/// Phrases that a translation must hold, each once at least and in any order (Post and Vilar 2018, "Fast lexically
/// constrained decoding with dynamic beam allocation", section 3): besides the most probable tokens every hypothesis is
/// extended by the next piece of the phrase it is in, or else by the first piece of each phrase that it lacks.
/// Candidates with equally many pieces of phrases form a bank, and `share_out` deals the places of the beam over the
/// banks. A phrase left in the middle counts nothing, but a beginning inside it does (as in Knuth-Morris-Pratt).
/// Departs from the paper: what counts is the text, not the pieces, so a phrase that the model cuts in another way, or
/// writes as part of a longer piece, is not demanded again; and one text may hold several phrases.
class PhraseConstraints {
 public:
  /// Throws Error(kUsage): "phrases: 70 are demanded of one sentence, at most 64 can be", or for an empty phrase.
  explicit PhraseConstraints(Phrases phrases);

  bool empty() const { return phrases_.empty(); }
  /// Progress after one more token.
  PhraseProgress extend(const PhraseProgress& progress, int32_t token_id) const;
  /// Progress of a hypothesis of these tokens.
  PhraseProgress progress_of(std::span<const int32_t> ids) const;
  /// Appends the tokens that bring a hypothesis further, each once.
  void append_wanted(const PhraseProgress& progress, std::vector<int32_t>& tokens) const;
  /// Pieces of phrases held: the bank. Of a phrase in the making those count that `append_wanted` would have written.
  int64_t met_tokens(const PhraseProgress& progress) const;
  bool complete(const PhraseProgress& progress) const;
  bool lacks(const PhraseProgress& progress, size_t phrase) const { return ((progress.met >> phrase) & 1U) == 0; }

 private:
  std::string_view begun(const PhraseProgress& progress) const;
  int64_t pieces_of(size_t phrase, size_t bytes) const;

  Phrases phrases_;
  std::vector<std::vector<size_t>> ends_;  // of each phrase, bytes after each of the pieces that write it
};

/// Keeps at most `count` of the candidates, which stand in the order of their scores: one of each bank in turn, the
/// fullest bank first, the best of a bank first, until the places are gone. So a hypothesis that lacks nothing never
/// waits, and no bank takes more than its share while others have candidates. What is kept stays in order.
/// @param banks  of each candidate
void share_out(std::vector<Candidate>& candidates, std::span<const int64_t> banks, size_t count);

}  // namespace dragoman::decoding
