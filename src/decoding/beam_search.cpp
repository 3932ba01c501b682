#include "decoding/beam_search.h"

#include <algorithm>
#include <numeric>

#include "data/vocabulary.h"

namespace dragoman::decoding {

BeamSearch::BeamSearch(const SearchOptions& options, const SearchLimits& limits, const SentenceRequest& request)
    : options_(options), limits_(limits), rules_(options), coverage_(options.coverage_penalty, request.source_length) {
  live_.push_back({-1, 0, 0.0});
}

void BeamSearch::begin(const ScoredPrefix& prefix) {
  for (size_t i = 0; i < prefix.ids.size(); ++i) {
    const double score = live_[0].score + prefix.log_probs[i];
    live_[0] = {add_node({0, prefix.ids[i], static_cast<float>(prefix.log_probs[i]), score}), 0, score};
    ++length_;
  }
  if (wants_attention() && !prefix.attention.empty()) {
    coverage_.add(1, prefix.attention.data(), 0);
  }
}

void BeamSearch::append_rows(int32_t slot, std::vector<StepRow>& rows) const {
  for (const Live& live : live_) {
    const int32_t token = live.node < 0 ? data::kBosId : nodes_[static_cast<size_t>(live.node)].token_id;
    rows.push_back({slot, live.parent, token});
  }
}

void BeamSearch::advance(std::span<float> logits) {
  expand_all(logits);
  prune(candidates_, candidates_wanted());
  if (candidates_.empty()) {  // nothing may follow: cut here
    return finish_all_live();
  }
  ++length_;
  split_candidates();
  if (length_ >= limits_.max_length) {
    finish_all_live();
  } else if (finished_.size() >= static_cast<size_t>(options_.finished_wanted()) || nothing_better_can_come()) {
    live_.clear();
  }
}

size_t BeamSearch::free_places() const {
  const auto all = static_cast<size_t>(std::max(options_.beam_size, options_.finished_wanted()));
  return all - std::min(all, finished_.size());
}

// As many as there are places; with patience above 1, enough to fill the places of those that end in this step.
size_t BeamSearch::candidates_wanted() const {
  return options_.finished_wanted() > options_.beam_size ? 2 * places() : places();
}

void BeamSearch::expand_all(std::span<float> logits) {
  candidates_.clear();
  const size_t vocab_size = logits.size() / live_.size();
  for (size_t row = 0; row < live_.size(); ++row) {
    const Expansion expansion{static_cast<int32_t>(row), live_[row].score, length_ >= limits_.min_length,
                              static_cast<int>(candidates_wanted())};
    rules_.expand(history(live_[row].node), logits.subspan(row * vocab_size, vocab_size), expansion, candidates_);
  }
}

void BeamSearch::split_candidates() {
  next_live_.clear();
  const size_t in_beam = places();  // an end counts only when it ranks within the beam
  for (size_t rank = 0; rank < candidates_.size(); ++rank) {
    const Candidate& candidate = candidates_[rank];
    const bool ends = candidate.token_id == data::kEosId;
    if (ends ? rank >= in_beam : next_live_.size() >= places()) {
      continue;
    }
    const Live extended{add_node(candidate), candidate.parent, candidate.score};
    if (ends) {
      finish(extended, static_cast<size_t>(candidate.parent), FinishReason::kEndOfSentence);
    } else {
      next_live_.push_back(extended);
      coverage_.inherit(static_cast<size_t>(candidate.parent));
    }
  }
  live_.swap(next_live_);
  coverage_.turn();
}

void BeamSearch::finish(const Live& hypothesis, size_t coverage_row, FinishReason reason) {
  const double penalty = length_penalty(options_.length_penalty, options_.alpha, std::max<int64_t>(length_, 1));
  const double normalised = hypothesis.score / penalty + coverage_.penalty(coverage_row);
  const Finished finished{hypothesis.node, hypothesis.score, normalised, reason};
  const auto place =
      std::ranges::upper_bound(finished_, finished.normalised_score, std::greater<>(), &Finished::normalised_score);
  finished_.insert(place, finished);
}

void BeamSearch::finish_all_live() {
  for (size_t row = 0; row < live_.size(); ++row) {
    finish(live_[row], row, FinishReason::kLengthLimit);
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

// The pieces that end in `node`; none when no rule asks for them.
std::span<const int32_t> BeamSearch::history(int32_t node) {
  history_.clear();
  for (; !rules_.empty() && node >= 0; node = nodes_[static_cast<size_t>(node)].previous) {
    history_.push_back(nodes_[static_cast<size_t>(node)].token_id);
  }
  std::ranges::reverse(history_);
  return history_;
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
  if (rules_.penalises()) {  // what was ranked by is not what the model said
    hypothesis.score = std::accumulate(hypothesis.token_scores.begin(), hypothesis.token_scores.end(), 0.0);
  }
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
