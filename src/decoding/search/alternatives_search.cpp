#include "decoding/search/alternatives_search.h"

#include <algorithm>
#include <numeric>

#include "decoding/search/attention_rows.h"

namespace dragoman::decoding {

AlternativesSearch::AlternativesSearch(const SearchOptions& options, const SearchLimits& limits,
                                       const SentenceRequest& request, MakeSearch make_branch)
    : options_(options),
      limits_(limits),
      request_(request),
      make_branch_(make_branch),
      rules_(options, request),
      phrases_(request.phrases),
      attention_layers_(decoding::attention_layers(options, request)) {}

void AlternativesSearch::append_rows(int32_t slot, std::vector<StepRow>& rows) const {
  if (!branched_) {
    rows.push_back({slot, 0, prefix_.ids.empty() ? request_.special.begin : prefix_.ids.back()});
    return;
  }
  for (const Branch& branch : branches_) {
    if (branch.live()) {
      const size_t begin = rows.size();
      branch.search->append_rows(slot, rows);
      for (StepRow& row : std::span(rows).subspan(begin)) {
        row.parent += branch.first_row;  // a branch counts from its own first row
      }
    }
  }
}

size_t AlternativesSearch::row_count(const Branch& branch) const {
  std::vector<StepRow> rows;
  branch.search->append_rows(0, rows);
  return rows.size();
}

void AlternativesSearch::see_attention(int layer, const float* weights, int64_t stride) {
  if (!branched_) {
    std::vector<float>& rows = prefix_.attention[layer];
    rows.insert(rows.end(), weights, weights + request_.source.size());
    return;
  }
  for (Branch& branch : branches_) {
    if (branch.live()) {
      branch.search->see_attention(layer, weights, stride);
      weights += static_cast<int64_t>(row_count(branch)) * stride;
    }
  }
}

void AlternativesSearch::advance(std::span<float> logits) {
  if (!branched_) {
    return branch(logits);
  }
  size_t n_rows = 0;
  for (const Branch& branch : branches_) {
    n_rows += branch.live() ? row_count(branch) : 0;
  }
  const size_t vocab_size = logits.size() / n_rows;
  int32_t row = 0;
  for (Branch& branch : branches_) {
    if (branch.live()) {
      const size_t count = row_count(branch);
      branch.search->advance(logits.subspan(static_cast<size_t>(row) * vocab_size, count * vocab_size));
      branch.first_row = row;
      row += static_cast<int32_t>(count);
    }
  }
}

void AlternativesSearch::branch(std::span<float> logits) {
  branched_ = true;
  std::vector<Candidate> candidates;
  const bool allow_end = static_cast<int64_t>(prefix_.ids.size()) >= limits_.min_length && holds_phrases(prefix_);
  Expansion expansion{0, 0.0, allow_end, options_.n_best};
  expansion.special = request_.special;
  rules_.expand(prefix_.ids, logits, expansion, candidates);
  for (const Candidate& candidate : candidates) {
    add_branch(candidate);
  }
  if (candidates.empty()) {  // nothing may follow
    add_cut(prefix_);
  }
}

bool AlternativesSearch::holds_phrases(const ScoredPrefix& prefix) const {
  return phrases_.complete(phrases_.progress_of(prefix.ids));
}

void AlternativesSearch::add_branch(const Candidate& candidate) {
  ScoredPrefix prefix = prefix_;
  prefix.log_probs.push_back(candidate.log_prob);
  if (request_.special.ends_text(candidate.token_id)) {
    return add_finished(prefix, FinishReason::kEndOfSentence);
  }
  prefix.ids.push_back(candidate.token_id);
  if (static_cast<int64_t>(prefix.ids.size()) >= limits_.max_length) {
    return add_cut(prefix);
  }
  SearchOptions options = options_;
  options.alternatives = false;
  options.n_best = 1;
  SentenceRequest request = request_;
  request.random_stream ^= 0xD1B54A32D192ED03ULL * (branches_.size() + 1);  // draws of its own
  Branch branch;
  branch.search = make_branch_(options, limits_, request);
  branch.search->begin(prefix);
  branches_.push_back(std::move(branch));
}

void AlternativesSearch::add_cut(const ScoredPrefix& prefix) {
  add_finished(prefix, holds_phrases(prefix) ? FinishReason::kLengthLimit : FinishReason::kPhrasesMissing);
}

void AlternativesSearch::add_finished(const ScoredPrefix& prefix, FinishReason reason) {
  Branch branch;
  branch.hypothesis.ids = prefix.ids;
  branch.hypothesis.token_scores.assign(prefix.log_probs.begin(), prefix.log_probs.end());
  branch.hypothesis.score = std::accumulate(prefix.log_probs.begin(), prefix.log_probs.end(), 0.0);
  const size_t end = reason == FinishReason::kEndOfSentence ? 1 : 0;
  const size_t length = std::max<size_t>(prefix.ids.size() + end, 1);
  branch.hypothesis.normalised_score =
      branch.hypothesis.score / length_penalty(options_.ranking, static_cast<int64_t>(length));
  branch.hypothesis.finish_reason = reason;
  AttentionRows attention(request_);
  attention.add_prefix(prefix);
  attention.align(branch.hypothesis);
  branches_.push_back(std::move(branch));
}

bool AlternativesSearch::done() const {
  return branched_ && std::ranges::none_of(branches_, [](const Branch& branch) { return branch.live(); });
}

void AlternativesSearch::stop(FinishReason reason) {
  if (!branched_) {
    branched_ = true;
    return add_finished(prefix_, reason);
  }
  for (Branch& branch : branches_) {
    if (branch.live()) {
      branch.search->stop(reason);
    }
  }
}

std::vector<int32_t> AlternativesSearch::agreed_ids() const {
  if (branches_.empty()) {
    return prefix_.ids;
  }
  const Branch& first = branches_.front();
  return first.search != nullptr ? first.search->agreed_ids() : first.hypothesis.ids;
}

std::vector<Hypothesis> AlternativesSearch::take_hypotheses() {
  std::vector<Hypothesis> hypotheses;
  for (Branch& branch : branches_) {
    hypotheses.push_back(branch.search != nullptr ? branch.search->take_hypotheses().front()
                                                  : std::move(branch.hypothesis));
  }
  return hypotheses;
}

}  // namespace dragoman::decoding
