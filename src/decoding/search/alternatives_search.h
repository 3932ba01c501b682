#pragma once

#include <memory>
#include <vector>

#include "decoding/search/logits_rules.h"
#include "decoding/search/phrase_constraints.h"
#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// The n_best likeliest next tokens after the prefix, each continued by a search of its own (samples, greedy or beam
/// search, as the options say) that returns its best. All of them go through the model in the same steps, beside other
/// sentences. Hypotheses come in the order of the probability of their next token, not of their scores. The end of the
/// sentence is one of these tokens only where the prefix holds every phrase that is demanded.
class AlternativesSearch : public SentenceSearch {
 public:
  /// Makes the search that continues one of the tokens.
  using MakeSearch = std::unique_ptr<SentenceSearch> (*)(const SearchOptions&, const SearchLimits&,
                                                         const SentenceRequest&);
  AlternativesSearch(const SearchOptions& options, const SearchLimits& limits, const SentenceRequest& request,
                     MakeSearch make_branch);
  void begin(const ScoredPrefix& prefix) override { prefix_ = prefix; }
  void append_rows(int32_t slot, std::vector<StepRow>& rows) const override;
  std::span<const int> attention_layers() const override { return attention_layers_; }
  void see_attention(int layer, const float* weights, int64_t stride) override;
  void advance(std::span<float> logits) override;
  bool done() const override;
  void stop(FinishReason reason) override;
  std::vector<int32_t> agreed_ids() const override;
  std::vector<Hypothesis> take_hypotheses() override;

 private:
  struct Branch {
    std::unique_ptr<SentenceSearch> search;  // null when the first token left nothing to search
    Hypothesis hypothesis;                   // the result in that case
    int32_t first_row = 0;                   // where its rows stood in the step before
    bool live() const { return search != nullptr && !search->done(); }
  };

  void branch(std::span<float> logits);
  void add_branch(const Candidate& candidate);
  bool holds_phrases(const ScoredPrefix& prefix) const;
  void add_cut(const ScoredPrefix& prefix);
  void add_finished(const ScoredPrefix& prefix, FinishReason reason);
  size_t row_count(const Branch& branch) const;

  SearchOptions options_;
  SearchLimits limits_;
  SentenceRequest request_;
  MakeSearch make_branch_;
  LogitsRules rules_;
  PhraseConstraints phrases_;
  std::vector<int> attention_layers_;
  ScoredPrefix prefix_;
  std::vector<Branch> branches_;
  bool branched_ = false;
};

}  // namespace dragoman::decoding
