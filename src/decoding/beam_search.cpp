#include "decoding/beam_search.h"

#include <algorithm>

#include "data/vocabulary.h"
#include "decoding/greedy.h"

namespace dragoman::decoding {

std::unique_ptr<SentenceSearch> make_search(const SearchOptions& options, const SearchLimits& limits) {
  if (options.beam_size == 1) {
    return std::make_unique<GreedySearch>(options, limits);
  }
  return std::make_unique<BeamSearch>(options, limits);
}

BeamSearch::BeamSearch(const SearchOptions& options, const SearchLimits& limits) : options_(options), limits_(limits) {
  live_.push_back({-1, 0, 0.0});
}

void BeamSearch::append_rows(int32_t slot, std::vector<StepRow>& rows) const {
  for (const Live& live : live_) {
    const int32_t token = live.node < 0 ? data::kBosId : nodes_[static_cast<size_t>(live.node)].token_id;
    rows.push_back({slot, live.parent, token});
  }
}

void BeamSearch::advance(std::span<float> logits) {
  expand_all(logits);
  prune(candidates_, places());
  if (candidates_.empty()) {  // nothing may follow: cut here
    return finish_all_live();
  }
  ++length_;
  split_candidates();
  if (length_ >= limits_.max_length) {
    finish_all_live();
  } else if (nothing_better_can_come()) {
    live_.clear();
  }
}

void BeamSearch::expand_all(std::span<float> logits) {
  candidates_.clear();
  const size_t vocab_size = logits.size() / live_.size();
  for (size_t row = 0; row < live_.size(); ++row) {
    const Expansion expansion{static_cast<int32_t>(row), live_[row].score, length_ >= limits_.min_length,
                              static_cast<int>(places())};
    expand(logits.subspan(row * vocab_size, vocab_size), expansion, candidates_);
  }
}

void BeamSearch::split_candidates() {
  next_live_.clear();
  for (const Candidate& candidate : candidates_) {
    const int32_t node = add_node(candidate);
    if (candidate.token_id == data::kEosId) {
      finish(node, candidate.score, FinishReason::kEndOfSentence);
    } else {
      next_live_.push_back({node, candidate.parent, candidate.score});
    }
  }
  live_.swap(next_live_);
}

void BeamSearch::finish(int32_t node, double score, FinishReason reason) {
  const double penalty = length_penalty(options_.length_penalty, options_.alpha, std::max<int64_t>(length_, 1));
  const Finished finished{node, score, score / penalty, reason};
  const auto place =
      std::ranges::upper_bound(finished_, finished.normalised_score, std::greater<>(), &Finished::normalised_score);
  finished_.insert(place, finished);
}

void BeamSearch::finish_all_live() {
  for (const Live& live : live_) {
    finish(live.node, live.score, FinishReason::kLengthLimit);
  }
  live_.clear();
}

bool BeamSearch::nothing_better_can_come() const {
  const auto needed = static_cast<size_t>(options_.n_best);
  if (!options_.early_stop || finished_.size() < needed || live_.empty()) {
    return false;
  }
  const double penalty = length_penalty(options_.length_penalty, options_.alpha, limits_.max_length);
  return live_.front().score / penalty < finished_[needed - 1].normalised_score;  // live_ is sorted by score
}

int32_t BeamSearch::add_node(const Candidate& candidate) {
  nodes_.push_back({live_[static_cast<size_t>(candidate.parent)].node, candidate.token_id, candidate.log_prob});
  return static_cast<int32_t>(nodes_.size()) - 1;
}

Hypothesis BeamSearch::trace(const Finished& finished) const {
  Hypothesis hypothesis;
  for (int32_t index = finished.node; index >= 0; index = nodes_[static_cast<size_t>(index)].previous) {
    const Node& node = nodes_[static_cast<size_t>(index)];
    hypothesis.token_scores.push_back(node.log_prob);
    if (node.token_id != data::kEosId) {
      hypothesis.ids.push_back(node.token_id);
    }
  }
  std::ranges::reverse(hypothesis.ids);
  std::ranges::reverse(hypothesis.token_scores);
  hypothesis.score = finished.score;
  hypothesis.normalised_score = finished.normalised_score;
  hypothesis.finish_reason = finished.reason;
  return hypothesis;
}

std::vector<Hypothesis> BeamSearch::take_hypotheses() {
  std::vector<Hypothesis> hypotheses;
  const size_t count = std::min(finished_.size(), static_cast<size_t>(options_.n_best));
  for (size_t rank = 0; rank < count; ++rank) {
    hypotheses.push_back(trace(finished_[rank]));
  }
  return hypotheses;
}

}  // namespace dragoman::decoding
