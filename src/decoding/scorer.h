#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "data/vocabulary/vocabulary.h"
#include "decoding/language_tokens.h"
#include "models/model.h"

namespace dragoman::decoding {

/// How probable the model finds a target line given its source line.
struct PairScore {
  double log_prob = 0.0;  ///< nats: sum over the target's pieces and its end
  int64_t tokens = 0;     ///< pieces and the end; 0 when both lines are blank

  /// log_prob / tokens, 0 for no tokens.
  double per_token() const { return tokens > 0 ? log_prob / static_cast<double>(tokens) : 0.0; }
};

/// How pairs are scored. Only statistics of batches change a result, of models with batch norms.
struct ScoreOptions {
  int64_t batch_tokens = 4096;
  int workers = 0;
  int64_t batch_statistics = 0;
  bool padded_statistics = false;

  static constexpr const char* kTitle = "Speed";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void ScoreOptions::fields(Visit&& visit) {
  using base::Field;
  using O = ScoreOptions;
  visit(Field("batch_tokens", &O::batch_tokens, "Source and target tokens of one batch; never changes the result",
              {1, 1'000'000}, "tokens")
            .course());
  visit(Field("workers", &O::workers, "Threads; 0 = one a core; never changes the result", {0, 1024}).course());
  visit(Field("batch_statistics", &O::batch_statistics,
              "Batch norms take the statistics of batches of so many pairs, in the order of the file; 0 = those that "
              "training kept. Other norms know no batch",
              {0, 1'000'000}, "pairs"));
  visit(Field("padded_statistics", &O::padded_statistics,
              "With --batch-statistics: sources are filled up with zeros to the longest of their batch, and the zeros "
              "count"));
}

/// A pair as ids: the source with its end, the target without begin and end.
struct IdPair {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
  size_t unscored = 0;  ///< of `target`, at its begin: the code of its language, which counts nothing
};

/// How lines become ids.
struct PairEncoding {
  data::VocabularyPair pieces;
  LanguageTokens languages = {};
};

/// The pair of two lines. A blank source reads as a lone sentence end; two blank lines are a pair of two empty sides.
IdPair encode_pair(const PairEncoding& encoding, const std::string& source, const std::string& target);

/// Scores pairs with teacher forcing: log p(target, end | source), the whole target fed at once.
/// @return in the order given; a pair of two empty sides scores nothing. A score does not depend on the other pairs,
/// unless batch norms take the statistics of batches.
std::vector<PairScore> score_ids(const models::Model& model, std::span<const IdPair> pairs,
                                 const ScoreOptions& options);

/// The same for pairs of lines.
/// @return in the order given. Two blank lines score nothing.
/// Throws Error(kBadData) for a line too long for the model: "target line 7: 1,300 tokens, the model takes 1,024; ...",
/// or unequal numbers of lines.
std::vector<PairScore> score_pairs(const models::Model& model, const PairEncoding& encoding,
                                   std::span<const std::string> sources, std::span<const std::string> targets,
                                   const ScoreOptions& options);

/// exp(-mean log-probability a token) over all pairs, added in order; 1 for no tokens.
double perplexity(std::span<const PairScore> scores);

}  // namespace dragoman::decoding
