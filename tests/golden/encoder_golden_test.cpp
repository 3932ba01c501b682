// Stored runs of BERTs with a head, and of one that learns vectors of pairs of texts, of the package transformers
// (make_golden_encoder.py): logits or vectors, every gradient, the losses of ten Adam steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden_run.h"
#include "models/encoder_only/encoder_only.h"
#include "tensor/transfer.h"
#include "training/contrastive_objective.h"
#include "training/objective.h"

namespace dragoman {
namespace {

struct Golden {
  const char* name;
  models::EncoderHead head;
};

models::EncoderOnlyConfig config_of(models::EncoderHead head) {
  models::EncoderOnlyConfig config;
  config.vocab_size = 29;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 40;
  config.n_heads = 4;
  config.max_positions = 24;
  config.dropout = config.attention_dropout = 0.0F;
  config.head = head;
  config.n_labels = head == models::EncoderHead::kClasses || head == models::EncoderHead::kTags ? 4 : 0;
  config.pooler = head == models::EncoderHead::kClasses ? models::Pooler::kTanh : models::Pooler::kNone;
  return config;
}

class StoredRun {
 protected:
  explicit StoredRun(const char* name) {
    const std::string path = golden_folder() / fmt::format("encoder_{}.safetensors", name);
    stored_ = tensor::read_safetensors(base::read_file(path), path);
    batch_.source = ids("source");
    batch_.source_offsets = ids("source_offsets");
    batch_.target_offsets = ids("target_offsets");
    batch_.lines.assign(batch_.source_offsets.size() - 1, 0);
  }

  std::vector<int32_t> ids(const std::string& name) const { return stored_.at(name).to_vector<int32_t>(); }
  void load(models::Model& model) const {
    model.parameters().allocate();
    model.parameters().mutable_values();
    for (const auto& parameter : model.parameters().parameters()) {
      parameter->variable.mutable_value().copy_from(stored_.at("param." + parameter->path));
    }
  }
  // The loss of the batch and all gradients.
  void expect_gradients(const training::Objective& objective, models::Model& model) const {
    model.parameters().allocate_gradients();
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    const training::Pass pass = objective.train(model, batch_, {}, 1.0 / batch_.target_tokens());
    EXPECT_NEAR(pass.loss.value().item(), stored_.at("losses").to_vector<float>().front(), kTolerance);
    tape.backward(pass.loss);
    for (const auto& parameter : model.parameters().parameters()) {
      expect_close(parameter->variable.grad(), stored_.at("grad." + parameter->path), "gradient of " + parameter->path);
    }
  }
  void expect_losses(std::unique_ptr<training::Objective> objective, models::Model& model, int workers) const {
    expect_losses(std::move(objective), model, workers, std::span(&batch_, 1));
  }
  // @param batches  the batch, or parts of it that are accumulated
  void expect_losses(std::unique_ptr<training::Objective> objective, models::Model& model, int workers,
                     std::span<const data::Batch> batches) const {
    distributed::SingleProcess alone;
    training::DataParallel replicas(model, std::move(objective), {}, alone, {workers});
    const std::vector<float> losses = stored_.at("losses").to_vector<float>();
    for (int step = 1; step <= 10; ++step) {
      const auto result = replicas.update(batches, step, 1e-4, 1);
      const double expected = losses[static_cast<size_t>(step - 1)];
      EXPECT_NEAR(result.sums.loss_per_token(), expected, kTolerance * expected)
          << "step " << step << " with " << workers << " workers";
    }
  }

  tensor::NamedTensors stored_;
  data::Batch batch_;
};

class EncoderGolden : public testing::TestWithParam<Golden>, protected StoredRun {
 protected:
  EncoderGolden() : StoredRun(GetParam().name) {
    batch_.second_begins = ids("second_begins");
    batch_.target_output = batch_.target_input = ids("target_output");
    if (GetParam().head != models::EncoderHead::kClasses) {
      batch_.chosen = ids("chosen");
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Heads, EncoderGolden,
                         testing::Values(Golden{"classes", models::EncoderHead::kClasses},
                                         Golden{"tags", models::EncoderHead::kTags},
                                         Golden{"words", models::EncoderHead::kWords}),
                         [](const auto& golden) { return std::string(golden.param.name); });

TEST_P(EncoderGolden, LogitsAndAllGradientsEqualTransformers) {
  models::EncoderOnly model(config_of(GetParam().head));
  load(model);
  models::ModelInput input;
  input.source = models::make_token_rows(batch_.source, batch_.source_offsets);
  input.source.segments = tensor::host_tensor(models::segments_of(batch_.second_begins, batch_.source_offsets));
  if (!batch_.chosen.empty()) {
    input.source.chosen =
        tensor::host_tensor(models::rows_of_all(batch_.chosen, batch_.target_offsets, batch_.source_offsets));
  }
  {
    const autograd::NoGrad inference;
    expect_close(model.output().logits(model.forward(input, {})).value(), stored_.at("logits"), "logits");
  }
  expect_gradients(*training::next_word_objective({.label_smoothing = 0.0}), model);
}

TEST_P(EncoderGolden, TenAdamStepsLoseAsInPyTorch) {
  for (const int workers : {1, 2}) {
    models::EncoderOnly model(config_of(GetParam().head));
    load(model);
    expect_losses(training::next_word_objective({.label_smoothing = 0.0}), model, workers);
  }
}

// Pairs of texts, and pairs with a text that is far from the left one.
class VectorsGolden : public testing::TestWithParam<const char*>, protected StoredRun {
 protected:
  VectorsGolden() : StoredRun(GetParam()) {
    batch_.text_begins = ids("text_begins");
    batch_.target_output = batch_.target_input =
        std::vector<int32_t>(static_cast<size_t>(batch_.target_offsets.back()), 0);
  }
};

INSTANTIATE_TEST_SUITE_P(Pairs, VectorsGolden, testing::Values("vectors", "vectors_far"),
                         [](const auto& golden) { return std::string(golden.param); });

TEST_P(VectorsGolden, MeansAndAllGradientsEqualTransformers) {
  models::EncoderOnly model(config_of(models::EncoderHead::kNone));
  load(model);
  std::vector<int32_t> offsets = batch_.text_begins;
  std::for_each(offsets.begin() + batch_.texts_of_pair() * batch_.target_offsets[1], offsets.end(),
                [&](int32_t& begin) { begin += batch_.source_offsets[1]; });
  offsets.push_back(batch_.source_tokens());
  {
    const autograd::NoGrad inference;
    expect_close(model.forward({models::make_token_rows(batch_.source, offsets), {}}, {}).value(), stored_.at("logits"),
                 "means");
  }
  expect_gradients(*training::contrastive_objective({}), model);
}

// A worker has a group each.
TEST_P(VectorsGolden, TenAdamStepsLoseAsInPyTorch) {
  for (const int workers : {1, 2}) {
    models::EncoderOnly model(config_of(models::EncoderHead::kNone));
    load(model);
    expect_losses(training::contrastive_objective({}), model, workers);
  }
}

TEST_P(VectorsGolden, AccumulatedGroupsAreTheBatch) {
  models::EncoderOnly model(config_of(models::EncoderHead::kNone));
  load(model);
  std::vector<data::Batch> groups = data::split(batch_, 2).shards;
  groups[1].first_sentence = groups[1].first_source_row = groups[1].first_target_row = 0;
  expect_losses(training::contrastive_objective({}), model, 1, groups);
}

}  // namespace
}  // namespace dragoman
