#include "decoding/search/beam_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dragoman::decoding {
namespace {

// @param rows  [P, width]
std::vector<float> sum_of_rows(const std::vector<float>& rows, size_t width) {
  std::vector<float> sums(width, 0.0F);
  for (size_t i = 0; i < rows.size(); ++i) {
    sums[i % width] += rows[i];
  }
  return sums;
}

}  // namespace

BeamSearch::BeamSearch(const SearchOptions& options, const SearchLimits& limits, const SentenceRequest& request)
    : options_(options),
      limits_(limits),
      special_(request.special),
      rules_(options, request),
      coverage_(options.ranking.coverage_penalty, static_cast<int64_t>(request.source.size())),
      attention_(request),
      attention_layers_(decoding::attention_layers(options, request)),
      phrases_(request.phrases) {
  live_.push_back({-1, 0, 0.0});
}

void BeamSearch::begin(const ScoredPrefix& prefix) {
  attention_.add_prefix(prefix);
  for (size_t i = 0; i < prefix.ids.size(); ++i) {
    const double score = live_[0].score + prefix.log_probs[i];
    const int32_t row = attention_.number(static_cast<int32_t>(i));
    live_[0] = {add_node({0, prefix.ids[i], static_cast<float>(prefix.log_probs[i]), score}, row), 0, score};
    ++length_;
  }
  live_[0].progress = phrases_.progress_of(prefix.ids);
  if (const auto shown = prefix.attention.find(kLastLayer); shown != prefix.attention.end()) {
    coverage_.add(1, sum_of_rows(shown->second, shown->second.size() / prefix.ids.size()).data(), 0);
  }
}

void BeamSearch::see_attention(int layer, const float* weights, int64_t stride) {
  if (layer == kLastLayer) {
    coverage_.add(live_.size(), weights, stride);
  }
  attention_.add_step(layer, live_.size(), weights, stride);
}

void BeamSearch::append_rows(int32_t slot, std::vector<StepRow>& rows) const {
  for (const Live& live : live_) {
    const int32_t token = live.node < 0 ? special_.begin : nodes_[static_cast<size_t>(live.node)].token_id;
    rows.push_back({slot, live.parent, token});
  }
}

void BeamSearch::advance(std::span<float> logits) {
  expand_all(logits);
  take_candidates();
}

int BeamSearch::best_logits_wanted() const {
  return rules_.empty() && phrases_.empty() ? best_logits_for(candidates_wanted(), special_) : 0;
}

void BeamSearch::advance_best(const kernels::BestLogits& best, size_t first_row) {
  candidates_.clear();
  const int count = static_cast<int>(candidates_wanted());
  for (size_t row = 0; row < live_.size(); ++row) {
    Expansion expansion{static_cast<int32_t>(row), live_[row].score, length_ >= limits_.min_length, count};
    expansion.special = special_;
    expand(best.row(first_row + row), expansion, candidates_);
  }
  take_candidates();
}

void BeamSearch::take_candidates() {
  choose_candidates();
  if (candidates_.empty()) {  // nothing may follow: cut here
    return finish_all_live(FinishReason::kLengthLimit);
  }
  ++length_;
  split_candidates();
  if (full() && rule_ends()) {
    live_.clear();
  } else if (length_ >= limits_.max_length) {
    finish_all_live(FinishReason::kLengthLimit);
  } else if ((!full() && finished_.size() >= static_cast<size_t>(options_.finished_wanted())) ||
             nothing_better_can_come()) {
    live_.clear();
  }
}

size_t BeamSearch::free_places() const {
  const auto all = static_cast<size_t>(std::max(options_.beam_size, options_.finished_wanted()));
  return all - std::min(all, finished_.size());
}

// As many as there are places; with patience above 1 or places that are filled again, enough for those of the
// hypotheses that end in this step.
size_t BeamSearch::candidates_wanted() const {
  return full() || options_.finished_wanted() > options_.beam_size ? 2 * places() : places();
}

void BeamSearch::expand_all(std::span<float> logits) {
  candidates_.clear();
  const size_t vocab_size = logits.size() / live_.size();
  for (size_t row = 0; row < live_.size(); ++row) {
    const Live& live = live_[row];
    wanted_.clear();
    phrases_.append_wanted(live.progress, wanted_);
    Expansion expansion{static_cast<int32_t>(row), live.score,
                        length_ >= limits_.min_length && phrases_.complete(live.progress),
                        static_cast<int>(candidates_wanted())};
    expansion.also = wanted_;
    expansion.special = special_;
    rules_.expand(history(live.node), logits.subspan(row * vocab_size, vocab_size), expansion, candidates_);
  }
}

void BeamSearch::choose_candidates() {
  if (phrases_.empty()) {
    return prune(candidates_, candidates_wanted());
  }
  prune(candidates_, candidates_.size());  // sorts
  banks_.clear();
  for (const Candidate& candidate : candidates_) {
    const PhraseProgress& before = live_[static_cast<size_t>(candidate.parent)].progress;
    banks_.push_back(phrases_.met_tokens(phrases_.extend(before, candidate.token_id)));
  }
  share_out(candidates_, banks_, candidates_wanted());
}

void BeamSearch::split_candidates() {
  next_live_.clear();
  const size_t in_beam = places();  // an end counts only when it ranks within the beam
  for (size_t rank = 0; rank < candidates_.size(); ++rank) {
    const Candidate& candidate = candidates_[rank];
    const bool ends = special_.ends_text(candidate.token_id);
    if (ends ? rank >= in_beam : next_live_.size() >= places()) {
      continue;
    }
    const PhraseProgress& before = live_[static_cast<size_t>(candidate.parent)].progress;
    const Live extended{add_node(candidate, attention_.number(candidate.parent)), candidate.parent, candidate.score,
                        ends ? before : phrases_.extend(before, candidate.token_id)};
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
  const bool end_is_free = full() && reason == FinishReason::kLengthLimit;
  const int64_t length = std::max<int64_t>(length_, 1) + (end_is_free ? 1 : 0);
  const double penalty = length_penalty(options_.ranking, length);
  const double normalised = hypothesis.score / penalty + coverage_.penalty(coverage_row);
  const Finished finished{hypothesis.node, hypothesis.score, normalised, reason,
                          phrases_.complete(hypothesis.progress)};
  const auto ranks_before = [](const Finished& x, const Finished& y) {
    return x.complete != y.complete ? x.complete : x.normalised_score > y.normalised_score;
  };
  finished_.insert(std::ranges::upper_bound(finished_, finished, ranks_before), finished);
  if (full() && finished_.size() > beam()) {
    finished_.pop_back();
  }
}

void BeamSearch::finish_all_live(FinishReason reason) {
  for (size_t row = 0; row < live_.size(); ++row) {
    const bool missing = reason == FinishReason::kLengthLimit && !phrases_.complete(live_[row].progress);
    finish(live_[row], row, missing ? FinishReason::kPhrasesMissing : reason);
  }
  live_.clear();
}

void BeamSearch::stop(FinishReason reason) {
  finish_all_live(reason);
  for (Finished& finished : finished_) {
    finished.reason = reason;
  }
}

std::vector<int32_t> BeamSearch::agreed_ids() const {
  std::vector<int32_t> agreed;
  bool first = true;
  const auto agree = [&](int32_t node) {
    const std::vector<int32_t> ids = pieces(node);
    if (std::exchange(first, false)) {
      agreed = ids;
    }
    agreed.erase(std::ranges::mismatch(agreed, ids).in1, agreed.end());
  };
  for (const Live& live : live_) {
    agree(live.node);
  }
  if (!finished_.empty()) {  // the best of them may be returned; the others rank behind it for ever
    agree(finished_.front().node);
  }
  return agreed;
}

bool BeamSearch::nothing_better_can_come() const {
  const auto needed = static_cast<size_t>(options_.n_best);
  if (!options_.beam.early_stop || finished_.size() < needed || live_.empty()) {
    return false;
  }
  const int64_t longest = limits_.max_length + (full() ? 1 : 0);
  const double penalty = std::max(length_penalty(options_.ranking, length_), length_penalty(options_.ranking, longest));
  return live_.front().score / penalty < finished_[needed - 1].normalised_score;  // live_ is sorted by score
}

bool BeamSearch::rule_ends() const {
  if (finished_.size() < beam() || live_.empty()) {
    return false;
  }
  const double penalty = length_penalty(options_.ranking, length_);
  return live_.front().score / penalty <= finished_.back().normalised_score;
}

int32_t BeamSearch::add_node(const Candidate& candidate, int32_t attention_row) {
  nodes_.push_back({live_[static_cast<size_t>(candidate.parent)].node, candidate.token_id, candidate.log_prob,
                    candidate.score, attention_row});
  return static_cast<int32_t>(nodes_.size()) - 1;
}

// The pieces that end in `node`; none when no rule asks for them.
std::span<const int32_t> BeamSearch::history(int32_t node) {
  history_.clear();
  if (!rules_.empty()) {
    history_ = pieces(node);
  }
  return history_;
}

std::vector<int32_t> BeamSearch::pieces(int32_t node) const {
  std::vector<int32_t> ids;
  for (; node >= 0; node = nodes_[static_cast<size_t>(node)].previous) {
    if (!special_.ends_text(nodes_[static_cast<size_t>(node)].token_id)) {
      ids.push_back(nodes_[static_cast<size_t>(node)].token_id);
    }
  }
  std::ranges::reverse(ids);
  return ids;
}

Hypothesis BeamSearch::trace(const Finished& finished) const {
  Hypothesis hypothesis;
  std::vector<int32_t> attention_rows;
  for (int32_t index = finished.node; index >= 0; index = nodes_[static_cast<size_t>(index)].previous) {
    const Node& node = nodes_[static_cast<size_t>(index)];
    hypothesis.token_scores.push_back(node.log_prob);
    if (!special_.ends_text(node.token_id)) {
      hypothesis.ids.push_back(node.token_id);
      attention_rows.push_back(node.attention_row);
    }
  }
  std::ranges::reverse(hypothesis.ids);
  std::ranges::reverse(attention_rows);
  attention_.align(attention_rows, hypothesis);
  std::ranges::reverse(hypothesis.token_scores);
  hypothesis.score = finished.score;
  if (rules_.penalises()) {  // what was ranked by is not what the model said
    hypothesis.score = std::accumulate(hypothesis.token_scores.begin(), hypothesis.token_scores.end(), 0.0);
  }
  hypothesis.normalised_score = finished.normalised_score;
  hypothesis.finish_reason = finished.reason;
  return hypothesis;
}

BeamTree BeamSearch::tree() const {
  BeamTree tree;
  for (const Node& node : nodes_) {
    const int32_t step = node.previous < 0 ? 0 : tree.nodes[static_cast<size_t>(node.previous)].step + 1;
    tree.nodes.push_back({node.previous, step, node.token_id, node.log_prob, node.score});
  }
  for (const Finished& finished : finished_) {
    tree.finished.push_back({finished.node, finished.score, finished.normalised_score, finished.reason});
  }
  return tree;
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
