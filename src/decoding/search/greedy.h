#pragma once

#include <algorithm>

#include "decoding/search/attention_rows.h"
#include "decoding/search/logits_rules.h"
#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// Takes the most probable token at each step (ties: the lower id): what beam search with beam_size 1 finds.
class GreedySearch : public SentenceSearch {
 public:
  GreedySearch(const SearchOptions& options, const SearchLimits& limits, const SentenceRequest& request)
      : options_(options),
        limits_(limits),
        special_(request.special),
        likeliest_(request.likeliest),
        rules_(options, request),
        attention_(request) {}
  void begin(const ScoredPrefix& prefix) override;
  std::span<const int> attention_layers() const override { return attention_.layers(); }
  void see_attention(int layer, const float* weights, int64_t stride) override {
    attention_.add_step(layer, 1, weights, stride);
  }
  void append_rows(int32_t slot, std::vector<StepRow>& rows) const override;
  void advance(std::span<float> logits) override;
  int best_logits_wanted() const override {
    return rules_.empty() ? std::max(best_logits_for(1, special_), likeliest_) : 0;
  }
  bool wants_log_sums() const override {
    return options_.output.scores || likeliest_ > 0 || (!special_.are_first() && limits_.min_length > 0);
  }
  void advance_best(const kernels::BestLogits& best, size_t first_row) override;
  bool done() const override { return done_; }
  void stop(FinishReason reason) override { finish(reason); }
  std::vector<int32_t> agreed_ids() const override { return hypothesis_.ids; }
  const Hypothesis* first() const override { return &hypothesis_; }
  std::vector<Hypothesis> take_hypotheses() override;

 private:
  Expansion expansion() const;
  void take_best();
  void finish(FinishReason reason);

  SearchOptions options_;
  SearchLimits limits_;
  SpecialTokens special_;
  int likeliest_;
  LogitsRules rules_;
  AttentionRows attention_;
  Hypothesis hypothesis_;
  double rank_score_ = 0.0;      // the sum that penalties went into
  std::vector<Candidate> best_;  // at most one; kept for its memory
  bool done_ = false;
};

}  // namespace dragoman::decoding
