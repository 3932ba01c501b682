#include "training/contrastive_objective.h"

#include <algorithm>
#include <vector>

#include "ops/contrastive_loss.h"
#include "ops/embedding.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

// The texts of all groups, left and right of each pair after one another.
models::ModelInput texts_of(const data::Batch& batch) {
  std::vector<int32_t> counts = batch.target_offsets;
  std::ranges::for_each(counts, [](int32_t& count) { count *= 2; });  // a pair has two texts
  std::vector<int32_t> offsets = models::rows_of_all(batch.text_begins, counts, batch.source_offsets);
  offsets.push_back(batch.source_tokens());
  return {models::make_token_rows(batch.source, offsets, batch.first_source_row), {}};
}

// The numbers of the left texts, or of the right ones.
tensor::Tensor side_of(int32_t first, int32_t pairs) {
  std::vector<int32_t> numbers;
  for (int32_t pair = 0; pair < pairs; ++pair) {
    numbers.push_back(2 * pair + first);
  }
  return tensor::host_tensor(numbers);
}

class ContrastiveObjective : public Objective {
 public:
  explicit ContrastiveObjective(double temperature) : temperature_(temperature) {}

  Pass train(const models::Model& model, const data::Batch& shard, const nn::ForwardContext& context,
             double scale) const override {
    const models::Variable vectors = model.forward(texts_of(shard), context);  // [2P, D]
    const int32_t pairs = shard.target_tokens();
    const ops::LossResult result = ops::contrastive_loss(ops::select_rows(vectors, side_of(0, pairs)),
                                                         ops::select_rows(vectors, side_of(1, pairs)),
                                                         shard.target_offsets, {temperature_, scale});
    return {{result.nll, result.nll, pairs, result.correct}, result.loss};
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
