#pragma once

#include <string>
#include <vector>

#include "data/pair_groups.h"
#include "training/validation.h"

namespace dragoman::training {

/// Two texts as they are.
struct TextPairs {
  std::vector<std::string> left, right;
};

/// Validates vectors of texts: the loss over groups of fixed pairs, and how well each left text finds its right one
/// among the right texts of all pairs, by cosine. These scores are those of `dragoman evaluate` for the vectors of
/// `dragoman embed`.
class EmbedValidation : public Validation {
 public:
  /// @param texts  empty = there are none
  /// @param groups  the same pairs as ids; null if there are none
  EmbedValidation(TextPairs texts, const data::PairGroups* groups, data::Vocabulary vocabulary,
                  const TrainOptions& options);

  bool has_data() const override { return !texts_.left.empty(); }
  ValidationResult run(DataParallel& replicas, const models::Model& model, distributed::ProcessGroup& processes,
                       const ValidationLimits& limits) const override;

 private:
  TextPairs texts_;
  std::vector<data::Batch> batches_;
  data::Vocabulary vocabulary_;
  int workers_;
};

}  // namespace dragoman::training
