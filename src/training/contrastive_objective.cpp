#include "training/contrastive_objective.h"

#include <algorithm>
#include <vector>

#include "ops/contrastive_loss.h"
#include "ops/embedding.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

// The texts of all groups: left, right and, where there is one, the far text of each pair after one another.
models::ModelInput texts_of(const data::Batch& batch) {
  std::vector<int32_t> counts = batch.target_offsets;
  std::ranges::for_each(counts, [&](int32_t& count) { count *= batch.texts_of_pair(); });
  std::vector<int32_t> offsets = models::rows_of_all(batch.text_begins, counts, batch.source_offsets);
  offsets.push_back(batch.source_tokens());
  return {models::make_token_rows(batch.source, offsets, batch.first_source_row), {}};
}

// The numbers of the left texts.
tensor::Tensor left_texts(const data::Batch& batch) {
  std::vector<int32_t> numbers;
  for (int32_t pair = 0; pair < batch.target_tokens(); ++pair) {
    numbers.push_back(batch.texts_of_pair() * pair);
  }
  return tensor::host_tensor(numbers);
}

// The numbers of the texts among which those are found: of each group the right ones, then the far ones.
tensor::Tensor right_texts(const data::Batch& batch) {
  const std::vector<int32_t>& groups = batch.target_offsets;
  std::vector<int32_t> numbers;
  for (size_t group = 0; group + 1 < groups.size(); ++group) {
    for (int32_t side = 1; side < batch.texts_of_pair(); ++side) {
      for (int32_t pair = groups[group]; pair < groups[group + 1]; ++pair) {
        numbers.push_back(batch.texts_of_pair() * pair + side);
      }
    }
  }
  return tensor::host_tensor(numbers);
}

// The offsets of the groups among `right_texts`.
std::vector<int32_t> right_offsets(const data::Batch& batch) {
  std::vector<int32_t> offsets = batch.target_offsets;
  std::ranges::for_each(offsets, [&](int32_t& offset) { offset *= batch.texts_of_pair() - 1; });
  return offsets;
}

class ContrastiveObjective : public Objective {
 public:
  explicit ContrastiveObjective(double temperature) : temperature_(temperature) {}

  Pass train(const models::Model& model, const data::Batch& shard, const nn::ForwardContext& context,
             double scale) const override {
    const models::Variable vectors = model.forward(texts_of(shard), context);  // [2P, D] or [3P, D]
    const ops::LossResult result = ops::contrastive_loss(
        ops::select_rows(vectors, left_texts(shard)), ops::select_rows(vectors, right_texts(shard)),
        shard.target_offsets, {temperature_, scale}, right_offsets(shard));
    return {{result.nll, result.nll, shard.target_tokens(), result.correct}, result.loss};
  }
  LossSums evaluate(const models::Model& model, const data::Batch& batch) const override {
    return train(model, batch, {}, 1.0).sums;
  }

 private:
  double temperature_;
};

}  // namespace

std::unique_ptr<Objective> contrastive_objective(const WholeTextOptions& options) {
  return std::make_unique<ContrastiveObjective>(options.temperature);
}

}  // namespace dragoman::training
