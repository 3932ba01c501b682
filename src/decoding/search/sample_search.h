#pragma once

#include <vector>

#include "base/random.h"
#include "decoding/search/attention_rows.h"
#include "decoding/search/logits_rules.h"
#include "decoding/search/sampler.h"
#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// Ancestral sampling: n_best translations drawn token by token, independent of each other. Sample k draws from a
/// Philox stream of its own, keyed by seed, sentence and k: the first of many samples are the samples of a smaller
/// n_best. Token scores are the model's log-probabilities at temperature 1.
class SampleSearch : public SentenceSearch {
 public:
  SampleSearch(const SearchOptions& options, const SearchLimits& limits, const SentenceRequest& request);
  void begin(const ScoredPrefix& prefix) override;
  std::span<const int> attention_layers() const override { return attention_.layers(); }
  void see_attention(int layer, const float* weights, int64_t stride) override;
  void append_rows(int32_t slot, std::vector<StepRow>& rows) const override;
  void advance(std::span<float> logits) override;
  bool done() const override { return live_.empty(); }
  void stop(FinishReason reason) override;
  std::vector<int32_t> agreed_ids() const override { return samples_.front().hypothesis.ids; }
  const Hypothesis* first() const override { return &samples_.front().hypothesis; }
  std::vector<Hypothesis> take_hypotheses() override;

 private:
  struct Sample {
    Hypothesis hypothesis;
    base::Random random;
    std::vector<int32_t> attention_rows = {};  // in attention_, one a piece
  };

  size_t row_count() const;
  // Adds a token to a sample, from row `row` of the step. @return whether it lives on
  bool extend(Sample& sample, size_t row, std::span<const float> logits, double normaliser);
  void finish(Hypothesis& hypothesis, FinishReason reason) const;

  SearchOptions options_;
  SearchLimits limits_;
  SpecialTokens special_;
  int likeliest_;
  LogitsRules rules_;
  Sampler sampler_;
  AttentionRows attention_;
  std::vector<Sample> samples_;
  std::vector<size_t> live_;  // samples that grow
  std::vector<int32_t> row_;  // of each live sample in the step before; all share row 0 at first
  std::vector<float> logits_;
  bool first_step_ = true;
};

}  // namespace dragoman::decoding
