#pragma once

#include <algorithm>
#include <vector>

#include "decoding/search/attention_rows.h"
#include "decoding/search/coverage.h"
#include "decoding/search/logits_rules.h"
#include "decoding/search/phrase_constraints.h"
#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// Beam search over one sentence. A step extends every live hypothesis by one token and ranks all extensions together
/// by the sum of log-probabilities (all have one length). The best beam_size - finished of them are kept: those that
/// end the sentence are finished, the others live on. So a finished hypothesis takes its place in the beam with it (as
/// in Marian, Junczys-Dowmunt et al. 2018): an unlikely early end does not stop better ones that are still growing,
/// and with beam_size 1 this is greedy search.
/// It is over when no place is left, when the longest length is reached (live ones are then cut and finish with
/// kLengthLimit), or earlier when that provably changes nothing:
///
/// Claim: if n_best hypotheses are finished, the n_best-th has normalised score w, and every live sum s satisfies
/// s / m < w, m being the larger of lp(length so far) and lp(max_length), then no later hypothesis enters the n best.
/// Proof: a descendant of length L <= max_length has sum s' <= s <= 0, because log-probabilities are <= 0. lp is
/// positive and either does not fall (alpha >= 0) or does not rise with L, so s' / lp(L) <= s / lp(L) <= s / m < w. A
/// coverage penalty only takes from the left side, since it is <= 0 (CoverageTable), and so does a repetition penalty
/// >= 1 (LogitsRules). Patience is not in the claim: it only says when else the search ends.
///
/// Patience (Kasai et al. 2022): C = round(patience * beam_size) finished hypotheses are waited for. Above 1 there are
/// C places in place of beam_size, and at most beam_size of them are live: a place that a finished one takes is filled
/// by the next best extension while more than beam_size are left. Below 1 the search ends once C are finished.
///
/// BeamRule::kFull is the rule of `generate` of transformers 5 with early_stopping false: the 2 * beam_size best
/// extensions are ranked; those among the first beam_size that end the sentence are finished, and the beam_size best of
/// the others live on. The beam_size best finished ones are kept. It is over when so many are there and the best live
/// sum s satisfies s / lp(length so far) <= the worst of them, though a longer one may be better; or at the longest
/// length, where live ones are cut and divided by lp of one token more, since their end is free there. The claim holds
/// with max_length + 1 for the same reason.
///
/// With phrases that must appear, the places of a step are shared out by how much of them a hypothesis holds, and the
/// sentence cannot end before it holds all (see PhraseConstraints).
class BeamSearch : public SentenceSearch {
 public:
  BeamSearch(const SearchOptions& options, const SearchLimits& limits, const SentenceRequest& request = {});
  void begin(const ScoredPrefix& prefix) override;
  void append_rows(int32_t slot, std::vector<StepRow>& rows) const override;
  std::span<const int> attention_layers() const override { return attention_layers_; }
  void see_attention(int layer, const float* weights, int64_t stride) override;
  void advance(std::span<float> logits) override;
  int best_logits_wanted() const override;
  void advance_best(const kernels::BestLogits& best, size_t first_row) override;
  bool done() const override { return live_.empty(); }
  void stop(FinishReason reason) override;
  std::vector<int32_t> agreed_ids() const override;
  BeamTree tree() const override;
  std::vector<Hypothesis> take_hypotheses() override;

 private:
  // One generated token; hypotheses share the tokens of their common history.
  struct Node {
    int32_t previous;  // in nodes_, -1 at the start
    int32_t token_id;
    float log_prob;
    double score;           // what it was ranked by
    int32_t attention_row;  // in attention_, of the step that generated it
  };
  struct Live {
    int32_t node;    // its latest token, -1 at the start
    int32_t parent;  // its place in the step before
    double score;
    PhraseProgress progress = {};
  };
  struct Finished {
    int32_t node;
    double score;
    double normalised_score;
    FinishReason reason;
    bool complete;  // holds every phrase; those that do not rank behind all that do
  };

  size_t free_places() const;
  bool full() const { return options_.beam.rule == BeamRule::kFull; }
  size_t places() const { return full() ? beam() : std::min(beam(), free_places()); }
  size_t beam() const { return static_cast<size_t>(options_.beam_size); }
  size_t candidates_wanted() const;
  void expand_all(std::span<float> logits);
  void take_candidates();
  void split_candidates();
  void finish(const Live& hypothesis, size_t coverage_row, FinishReason reason);
  void finish_all_live(FinishReason reason);
  void choose_candidates();
  std::vector<int32_t> pieces(int32_t node) const;
  bool nothing_better_can_come() const;
  bool rule_ends() const;
  int32_t add_node(const Candidate& candidate, int32_t attention_row);
  std::span<const int32_t> history(int32_t node);
  Hypothesis trace(const Finished& finished) const;

  SearchOptions options_;
  SearchLimits limits_;
  SpecialTokens special_;
  LogitsRules rules_;
  CoverageTable coverage_;
  AttentionRows attention_;
  std::vector<int> attention_layers_;
  PhraseConstraints phrases_;
  int64_t length_ = 0;  // tokens generated by every live hypothesis
  std::vector<Node> nodes_;
  std::vector<Live> live_;
  std::vector<Live> next_live_;
  std::vector<Candidate> candidates_;
  std::vector<Finished> finished_;  // best first; equal scores in the order of finishing
  std::vector<int32_t> history_;    // kept for its memory, as are those below
  std::vector<int32_t> wanted_;
  std::vector<int64_t> banks_;
};

}  // namespace dragoman::decoding
