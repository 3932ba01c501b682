#include "training/objective.h"

#include "ops/linear_cross_entropy.h"
#include "ops/two_pass_cross_entropy.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

using models::Variable;

// The source side, with what an encoder is told of it.
models::TokenRows source_rows(const data::Batch& batch) {
  models::TokenRows rows = models::make_token_rows(batch.source, batch.source_offsets, batch.first_source_row);
  rows.first_text = batch.first_sentence;
  if (!batch.second_begins.empty()) {
    rows.segments = tensor::host_tensor(models::segments_of(batch.second_begins, batch.source_offsets));
  }
  if (!batch.chosen.empty()) {
    rows.chosen = tensor::host_tensor(models::rows_of_all(batch.chosen, batch.target_offsets, batch.source_offsets));
  }
  return rows;
}

// A batch as the model takes it, and the words that it must predict.
struct Rows {
  explicit Rows(const data::Batch& batch)
      : input{source_rows(batch),
              models::make_token_rows(batch.target_input, batch.target_offsets, batch.first_target_row)},
        expected(tensor::host_tensor(batch.target_output)) {}

  void refill(const data::Batch& batch) {
    input.source.ids.refill<int32_t>(batch.source);
    input.target.ids.refill<int32_t>(batch.target_input);
    expected.refill<int32_t>(batch.target_output);
    if (!batch.chosen.empty()) {
      input.source.chosen.refill<int32_t>(
          models::rows_of_all(batch.chosen, batch.target_offsets, batch.source_offsets));
    }
  }

  models::ModelInput input;
  tensor::Tensor expected;  // [Nt] int32
};

// Of an objective whose `pass` reads nothing but these rows.
template <typename Loss>
class RowsAgain : public RepeatedPass {
 public:
  RowsAgain(const Loss& loss, const data::Batch& batch) : loss_(loss), rows_(batch) {}

  void refill(const data::Batch& shard) override { rows_.refill(shard); }
  Pass run(const models::Model& model, const nn::ForwardContext& context, double scale) const override {
    return loss_.pass(model, rows_, context, scale);
  }

 private:
  const Loss& loss_;
  Rows rows_;
};

class CrossEntropy : public Objective {
 public:
  explicit CrossEntropy(double label_smoothing) : label_smoothing_(static_cast<float>(label_smoothing)) {}

  Pass train(const models::Model& model, const data::Batch& shard, const nn::ForwardContext& context,
             double scale) const override {
    return pass(model, Rows(shard), context, scale);
  }
  std::unique_ptr<RepeatedPass> repeated(const data::Batch& shard) const override {
    return std::make_unique<RowsAgain<CrossEntropy>>(*this, shard);
  }
  LossSums evaluate(const models::Model& model, const data::Batch& batch) const override {
    Pass result = pass(model, Rows(batch), {}, 1.0);
    return result.sums += result.pending.wait();
  }

  Pass pass(const models::Model& model, const Rows& rows, const nn::ForwardContext& context, double scale) const {
    const kernels::LossOptions options{label_smoothing_, scale};
    const Variable hidden = model.forward(rows.input, context);  // [Nt, D]
    const models::OutputLayer output = model.output();
    const ops::LossResult result =
        ops::linear_cross_entropy(hidden, output.weight, output.bias, rows.expected, options);
    const int64_t tokens = rows.expected.dim(0);
    if (result.pending.defined()) {
      return {{.tokens = tokens}, result.loss, {result.pending, [scale](std::span<const double> numbers) {
                                                  kernels::TokenLosses sums;
                                                  sums.take(numbers);
                                                  const auto rounded = static_cast<double>(
                                                      static_cast<float>(scale * sums.smoothed));  // as the loss
                                                  return LossSums{rounded / scale, sums.nll, 0, sums.correct};
                                                }}};
    }
    return {{result.loss.value().item() / scale, result.nll, tokens, result.correct}, result.loss};
  }

 private:
  float label_smoothing_;
};

// R-Drop (Wu et al. 2021) or SimCut (Gao et al. 2022): two passes of each shard, whose divergence is part of the loss.
class TwoPasses : public Objective {
 public:
  explicit TwoPasses(const ObjectiveOptions& options)
      : label_smoothing_(static_cast<float>(options.label_smoothing)),
        alpha_(options.rdrop > 0.0 ? options.rdrop : options.simcut),
        loss_(options.rdrop > 0.0 ? kernels::TwoPassLoss::kRdrop : kernels::TwoPassLoss::kSimCut),
        word_cut_(options.rdrop > 0.0 ? 0.0F : static_cast<float>(options.simcut_words)),
        one_pass_(options.label_smoothing) {}

  Pass train(const models::Model& model, const data::Batch& shard, const nn::ForwardContext& context,
             double scale) const override {
    return pass(model, Rows(shard), context, scale);
  }
  std::unique_ptr<RepeatedPass> repeated(const data::Batch& shard) const override {
    return std::make_unique<RowsAgain<TwoPasses>>(*this, shard);
  }
  LossSums evaluate(const models::Model& model, const data::Batch& batch) const override {
    return one_pass_.evaluate(model, batch);
  }

  Pass pass(const models::Model& model, const Rows& rows, const nn::ForwardContext& context, double scale) const {
    nn::ForwardContext again = context;
    again.pass = 1;
    again.word_cut = word_cut_;
    const Variable first = model.forward(rows.input, context);  // [Nt, D]
    const Variable second = model.forward(rows.input, again);   // [Nt, D]
    const models::OutputLayer output = model.output();
    const ops::TwoPassResult result = ops::two_pass_cross_entropy(
        first, second, output.weight, output.bias, rows.expected, {{label_smoothing_, scale}, alpha_, loss_});
    const auto sums_of = [](const kernels::TwoPassLosses& sums, int64_t tokens) {
      return LossSums{sums.smoothed, sums.nll, tokens, sums.correct, sums.divergence};
    };
    PendingSums pending{result.pending, [sums_of](std::span<const double> numbers) {
                          kernels::TwoPassLosses sums;
                          sums.take(numbers);
                          return sums_of(sums, 0);
                        }};
    return {sums_of(result, rows.expected.dim(0)), result.loss, std::move(pending)};
  }

 private:
  float label_smoothing_;
  double alpha_;
  kernels::TwoPassLoss loss_;
  float word_cut_;
  CrossEntropy one_pass_;
};

}  // namespace

std::unique_ptr<Objective> next_word_objective(const ObjectiveOptions& options) {
  if (options.two_passes()) {
    return std::make_unique<TwoPasses>(options);
  }
  return std::make_unique<CrossEntropy>(options.label_smoothing);
}

}  // namespace dragoman::training
