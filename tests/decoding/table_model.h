#pragma once

#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <vector>

#include "base/random.h"
#include "data/vocabulary/vocabulary.h"
#include "decoding/search/search_loop.h"

namespace dragoman::decoding {

using Ids = std::vector<int32_t>;
using Table = std::map<int32_t, double>;  ///< the probability of each next token

/// The tokens of a small alphabet: the special ids, a, b and c.
inline constexpr int32_t kEnd = data::kEosId, kA = 4, kB = 5, kC = 6, kSmallVocab = 7;

/// A model written by hand: the probability of each next token after a history. Tokens a, b, c ... are 4, 5, 6 ...
class TableModel : public StepModel {
 public:
  /// @param next  for a history (without begin of sentence) the probability of every token; may depend on the slot
  TableModel(int32_t vocab_size, std::function<Table(int32_t slot, const Ids& history)> next)
      : vocab_size_(vocab_size), next_(std::move(next)) {}

  tensor::Tensor step(std::span<const StepRow> rows) override {
    std::map<int32_t, std::vector<Ids>> histories;
    tensor::Tensor logits =
        tensor::Tensor::full({static_cast<int64_t>(rows.size()), vocab_size_}, -INFINITY);  // [R, V]
    float* row_logits = logits.data<float>();
    for (const StepRow& row : rows) {
      Ids history;
      if (const auto known = histories_.find(row.slot); known != histories_.end()) {
        history = known->second.at(static_cast<size_t>(row.parent));
        history.push_back(row.token_id);
      }
      for (const auto& [id, probability] : next_(row.slot, history)) {
        row_logits[id] = static_cast<float>(std::log(probability));
      }
      row_logits += vocab_size_;
      histories[row.slot].push_back(history);
    }
    for (auto& [slot, slot_histories] : histories) {
      histories_[slot] = std::move(slot_histories);
    }
    ++steps;
    return logits;
  }

  void remove(int32_t slot) override { histories_.erase(slot); }

  int steps = 0;

 private:
  int32_t vocab_size_;
  std::function<Table(int32_t, const Ids&)> next_;
  std::map<int32_t, std::vector<Ids>> histories_;
};

/// Probabilities of the tokens [first, vocab_size) drawn from (seed, history), in proportion to weight(id, uniform).
template <typename Weight>
Table drawn_table(uint64_t seed, const Ids& history, int32_t first, int32_t vocab_size, Weight weight) {
  uint64_t stream = 17;
  for (const int32_t id : history) {
    stream = stream * 1000003 + static_cast<uint64_t>(id);
  }
  base::Random random(seed, stream);
  Table table;
  double sum = 0.0;
  for (int32_t id = first; id < vocab_size; ++id) {
    sum += table[id] = weight(id, random.uniform());
  }
  for (auto& [id, probability] : table) {
    probability /= sum;
  }
  return table;
}

/// The n best of one sentence. Throws what its search throws.
inline std::vector<Hypothesis> search_one(StepModel& model, const SearchOptions& options, const SearchLimits& limits,
                                          const SentenceRequest& request, int32_t slot = 0) {
  SearchLoop loop(model);
  loop.add(0, slot, limits, options, request);
  std::vector<SearchResult> results;
  while (!loop.empty()) {
    loop.step(results);
  }
  if (results.at(0).error != nullptr) {
    std::rethrow_exception(results[0].error);
  }
  return results[0].hypotheses;
}

/// The same for a sentence that asks for nothing beside the options.
inline std::vector<Hypothesis> search_one(StepModel& model, const SearchOptions& options, const SearchLimits& limits,
                                          int32_t slot = 0) {
  return search_one(model, options, limits, SentenceRequest(), slot);
}

}  // namespace dragoman::decoding
