#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decoding/hypothesis.h"
#include "decoding/options.h"
#include "decoding/step_model.h"

namespace dragoman::decoding {

/// The search of one sentence. It sees the logits of its own hypotheses only, so that its result cannot depend on
/// the sentences searched beside it. Order of calls: (append_rows, advance) until done, then take_hypotheses.
class SentenceSearch {
 public:
  virtual ~SentenceSearch() = default;
  /// Appends what the next step shall be fed: one row for each live hypothesis.
  virtual void append_rows(int32_t slot, std::vector<StepRow>& rows) const = 0;
  /// Takes the logits [live hypotheses, V] of that step, row by row; overwrites them.
  virtual void advance(std::span<float> logits) = 0;
  virtual bool done() const = 0;
  /// The n best finished hypotheses, best first. At least one.
  virtual std::vector<Hypothesis> take_hypotheses() = 0;
};

/// Greedy search for beam_size 1, else beam search.
std::unique_ptr<SentenceSearch> make_search(const SearchOptions& options, const SearchLimits& limits);

}  // namespace dragoman::decoding
