#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/scorer.h"
#include "decoding/search/options.h"
#include "decoding/translation.h"
#include "models/model.h"

namespace dragoman::decoding {

/// Puts the hypotheses of a search into another order: by how well a reverse model, one that translates the other way,
/// would get the source x back from each hypothesis y.
///
///   normalised_score(y) = normalised_score(y) of the search + reverse_weight * log p(x | y) / length penalty(y)
///                       = [log p(y | x) + reverse_weight * log p(x | y)] / length penalty(y), without other penalties
///
/// A translation that leaves out what the source says, or says what it does not, explains the source badly.
/// The reverse model may have any vocabulary, since it reads text. Safe for use by any number of threads at once.
/// Source: Yee, Dauphin and Auli 2019, "Simple and Effective Noisy Channel Modeling for Neural Machine Translation",
/// EMNLP, reranking with their direct and channel model. Departures: no language model of y; log p(x | y) is divided by
/// the length penalty of y, not by the length of x.
class Reranker {
 public:
  /// @param reverse  from the language of the translations to that of the sources, packed for inference
  Reranker(std::shared_ptr<const models::Model> reverse, data::Vocabulary source, data::Vocabulary target)
      : reverse_(std::move(reverse)), source_(std::move(source)), target_(std::move(target)) {}

  /// Whether a search of these options is reranked: a beam search for the best, with a reverse_weight above 0.
  static bool applies(const SearchOptions& options);
  /// `options` for a search whose result is to be reranked: with all hypotheses that it finishes, and their scores.
  static SearchOptions widened(SearchOptions options);

  /// Ranks translations[i] and its alternatives, hypotheses for texts[i], anew; the best becomes the translation, and
  /// options.n_best of them are kept. Sets their normalised_score and reverse_score. One hypothesis alone is not
  /// scored; a list with a pair too long for the reverse model stays in the order of the search; one that is ranked
  /// already stays so. When it throws, for want of memory say, each list is as it was or ranked.
  /// @param workers  threads, 0 = one a core; never changes the result
  void rank(std::span<const std::string> texts, std::span<Translation* const> translations,
            const SearchOptions& options, int workers) const;

 private:
  // Of the translation and its alternatives, in this order; none where they stay as they are.
  std::vector<IdPair> pairs_of(const Translation& translation, const std::string& text) const;

  std::shared_ptr<const models::Model> reverse_;
  data::Vocabulary source_;
  data::Vocabulary target_;
};

}  // namespace dragoman::decoding
