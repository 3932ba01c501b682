#include "decoding/reranker.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "decoding/scorer.h"

namespace dragoman::decoding {
namespace {

bool fits(const IdPair& pair, int64_t max_positions) {
  return static_cast<int64_t>(std::max(pair.source.size(), pair.target.size() + 1)) <= max_positions;
}

void add_reverse_score(Translation& candidate, double reverse_score, const SearchOptions& options) {
  const auto length = static_cast<int64_t>(std::max(candidate.token_scores.size(), size_t{1}));
  candidate.reverse_score = reverse_score;
  candidate.normalised_score +=
      options.ranking.reverse_weight * reverse_score / length_penalty(options.ranking, length);
}

// @param reverse_scores  of the translation and its alternatives; none where they stay in their order
void reorder(Translation& translation, std::span<const PairScore> reverse_scores, const SearchOptions& options) {
  std::vector<Translation> candidates;
  candidates.reserve(1 +
                     translation.alternatives.size());  // nothing after this asks for memory and could be refused it
  std::vector<std::string> source_pieces = std::move(translation.source_pieces);
  std::vector<Translation> alternatives = std::move(translation.alternatives);
  candidates.push_back(std::move(translation));
  std::ranges::move(alternatives, std::back_inserter(candidates));
  for (size_t i = 0; i < reverse_scores.size(); ++i) {
    add_reverse_score(candidates[i], reverse_scores[i].log_prob, options);
  }
  std::ranges::stable_sort(candidates, std::greater(), &Translation::normalised_score);
  candidates.resize(std::min(candidates.size(), static_cast<size_t>(options.n_best)));
  translation = std::move(candidates.front());
  translation.source_pieces = std::move(source_pieces);  // they belong to the line
  candidates.erase(candidates.begin());
  translation.alternatives = std::move(candidates);
}

}  // namespace

bool Reranker::applies(const SearchOptions& options) {
  return options.ranking.reverse_weight > 0.0 && options.beam_size > 1 && !options.samples() && !options.alternatives;
}

SearchOptions Reranker::widened(SearchOptions options) {
  options.n_best = std::min(options.beam_size, options.finished_wanted());
  options.output.scores = true;
  return options;
}

void Reranker::rank(std::span<const std::string> texts, std::span<Translation* const> translations,
                    const SearchOptions& options, int workers) const {
  std::vector<IdPair> pairs;
  std::vector<size_t> first_pair = {0};  // of each list, and the end of the last
  for (size_t i = 0; i < translations.size(); ++i) {
    std::vector<IdPair> list = pairs_of(*translations[i], texts[i]);
    pairs.insert(pairs.end(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
    first_pair.push_back(pairs.size());
  }
  const std::vector<PairScore> scores = score_ids(*reverse_, pairs, {.workers = workers});
  for (size_t i = 0; i < translations.size(); ++i) {
    const auto reverse_scores = std::span(scores).subspan(first_pair[i], first_pair[i + 1] - first_pair[i]);
    reorder(*translations[i], reverse_scores, options);
  }
}

std::vector<IdPair> Reranker::pairs_of(const Translation& translation, const std::string& text) const {
  if (translation.alternatives.empty() || translation.reverse_score) {
    return {};
  }
  const PairEncoding encoding{{source_, target_}};
  std::vector<IdPair> pairs = {encode_pair(encoding, translation.text, text)};
  for (const Translation& alternative : translation.alternatives) {
    pairs.push_back(encode_pair(encoding, alternative.text, text));
  }
  const bool all_fit = std::ranges::all_of(
      pairs, [&](const IdPair& pair) { return fits(pair, reverse_->config().sizes().max_positions); });
  return all_fit ? pairs : std::vector<IdPair>();
}

}  // namespace dragoman::decoding
