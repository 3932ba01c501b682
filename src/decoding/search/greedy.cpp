#include "decoding/search/greedy.h"

#include <algorithm>

namespace dragoman::decoding {

void GreedySearch::begin(const ScoredPrefix& prefix) {
  hypothesis_.ids = prefix.ids;
  hypothesis_.likeliest = prefix.likeliest;
  attention_.add_prefix(prefix);
  for (const double known : prefix.log_probs) {
    const double log_prob = options_.output.scores ? known : 0.0;
    hypothesis_.token_scores.push_back(static_cast<float>(log_prob));
    rank_score_ += log_prob;
  }
  hypothesis_.score = rank_score_;
}

void GreedySearch::append_rows(int32_t slot, std::vector<StepRow>& rows) const {
  rows.push_back({slot, 0, hypothesis_.ids.empty() ? special_.begin : hypothesis_.ids.back()});
}

Expansion GreedySearch::expansion() const {
  Expansion expansion{0, rank_score_, static_cast<int64_t>(hypothesis_.ids.size()) >= limits_.min_length, 1};
  expansion.special = special_;
  return expansion;
}

void GreedySearch::advance(std::span<float> logits) {
  if (likeliest_ > 0) {
    hypothesis_.likeliest.push_back(likeliest(logits, log_normaliser(logits), likeliest_));
  }
  best_.clear();
  rules_.expand(hypothesis_.ids, logits, expansion(), best_);
  take_best();
}

void GreedySearch::advance_best(const kernels::BestLogits& best, size_t first_row) {
  if (likeliest_ > 0) {
    hypothesis_.likeliest.push_back(likeliest(best.row(first_row), likeliest_));
  }
  best_.clear();
  expand(best.row(first_row), expansion(), best_);
  take_best();
}

void GreedySearch::take_best() {
  if (best_.empty()) {
    return finish(FinishReason::kLengthLimit);
  }
  Candidate& best = best_.front();
  if (!options_.output.scores) {  // neighbours may have wanted them; whether they did must not be seen
    best.log_prob = 0.0F;
    best.score = 0.0;
  }
  rank_score_ = best.score;
  hypothesis_.score = rules_.penalises() ? hypothesis_.score + best.log_prob : best.score;
  hypothesis_.token_scores.push_back(best.log_prob);
  if (special_.ends_text(best.token_id)) {
    return finish(FinishReason::kEndOfSentence);
  }
  hypothesis_.ids.push_back(best.token_id);
  if (static_cast<int64_t>(hypothesis_.ids.size()) >= limits_.max_length) {
    finish(FinishReason::kLengthLimit);
  }
}

void GreedySearch::finish(FinishReason reason) {
  const auto length = static_cast<int64_t>(std::max<size_t>(hypothesis_.token_scores.size(), 1));
  hypothesis_.likeliest.resize(std::min(hypothesis_.likeliest.size(), hypothesis_.token_scores.size()));
  hypothesis_.finish_reason = reason;
  hypothesis_.normalised_score = rank_score_ / length_penalty(options_.ranking, length);
  done_ = true;
}

std::vector<Hypothesis> GreedySearch::take_hypotheses() {
  attention_.align(hypothesis_);
  std::vector<Hypothesis> hypotheses;
  hypotheses.push_back(std::move(hypothesis_));
  return hypotheses;
}

}  // namespace dragoman::decoding
