#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "decoding/search/beam_tree.h"
#include "decoding/search/hypothesis.h"
#include "decoding/search/options.h"
#include "decoding/search/sentence_request.h"
#include "decoding/search/step_model.h"

namespace dragoman::decoding {

/// A prefix that all hypotheses of a sentence begin with, and how the model sees it.
struct ScoredPrefix {
  std::vector<int32_t> ids;
  std::vector<double> log_probs;                    ///< of each, given those before
  std::vector<std::vector<LikelyToken>> likeliest;  ///< Hypothesis::likeliest of each, if requested
  /// Of each layer that the search wants and the model shows: [ids, S] cross-attention of the step that made each id.
  std::map<int, std::vector<float>> attention;
};

/// The search of one sentence. It sees the logits of its own hypotheses only, so that its result cannot depend on
/// the sentences searched beside it. Order of calls: (append_rows, advance) until done, then take_hypotheses.
class SentenceSearch {
 public:
  virtual ~SentenceSearch() = default;
  /// Makes every hypothesis begin with a prefix, which counts as generated. At most once, before the first step.
  virtual void begin(const ScoredPrefix& prefix) = 0;
  /// Appends what the next step shall be fed: one row for each live hypothesis.
  virtual void append_rows(int32_t slot, std::vector<StepRow>& rows) const = 0;
  /// Layers whose cross-attention it is to be shown before each `advance`, if the model shows it.
  virtual std::span<const int> attention_layers() const { return {}; }
  /// Shows the mean weights of the heads of one of them, [live hypotheses, at least S], a row every `stride` floats.
  virtual void see_attention(int /*layer*/, const float* /*weights*/, int64_t /*stride*/) {}
  /// Takes the logits [live hypotheses, V] of that step, row by row; overwrites them.
  virtual void advance(std::span<float> logits) = 0;
  /// Returns the number of largest logits of each row that suffice for the next step, if `advance_best` is called
  /// for it in place of `advance`; 0: it must see all logits.
  virtual int best_logits_wanted() const { return 0; }
  /// Whether `advance_best` needs the log-sum-exp of its rows.
  virtual bool wants_log_sums() const { return true; }
  /// The same step from rows first_row .. first_row + live hypotheses of `best`, which hold at least what was wanted.
  virtual void advance_best(const kernels::BestLogits& best, size_t first_row) {
    static_cast<void>(best), static_cast<void>(first_row);
  }
  virtual bool done() const = 0;
  /// Ends the search now. What it would return best is returned as it stands, complete or not, with this reason.
  virtual void stop(FinishReason reason) = 0;
  /// The pieces that take_hypotheses().front() is sure to begin with, whatever comes; never fewer than before.
  virtual std::vector<int32_t> agreed_ids() const = 0;
  /// Returns: the first hypothesis, which never loses a token; null for a search that may still choose another.
  virtual const Hypothesis* first() const { return nullptr; }
  /// Returns: everything that a beam search has kept so far. Empty for other searches.
  virtual BeamTree tree() const { return {}; }
  /// The n best finished hypotheses, best first. At least one.
  virtual std::vector<Hypothesis> take_hypotheses() = 0;
};

}  // namespace dragoman::decoding
