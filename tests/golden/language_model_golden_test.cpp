// Stored runs of a GPT-2 and a Llama of the package transformers (make_golden_language_models.py): logits, every
// gradient, the losses of ten AdamW steps.
#include <fmt/format.h>

#include "golden_run.h"
#include "models/decoder_only/decoder_only.h"
#include "support/llama_config.h"

namespace dragoman {
namespace {

models::DecoderOnlyConfig gpt2() {
  models::DecoderOnlyConfig config;
  config.vocab_size = 29;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 40;
  config.n_heads = 4;
  config.max_positions = 24;
  return config;
}

models::DecoderOnlyConfig llama() {
  models::DecoderOnlyConfig config = test_support::as_llama(gpt2());
  config.layer.n_kv_heads = 2;
  return config;
}

struct Golden {
  const char* name;
  models::DecoderOnlyConfig (*config)();
};

class LanguageModelGolden : public testing::TestWithParam<Golden> {
 protected:
  LanguageModelGolden() {
    const std::string path = golden_folder() / fmt::format("{}.safetensors", GetParam().name);
    stored_ = tensor::read_safetensors(base::read_file(path), path);
    fill(model_);
    batch_.target_input = ids("target_input");
    batch_.target_output = ids("target_output");
    batch_.target_offsets = ids("target_offsets");
    batch_.source_offsets.assign(batch_.target_offsets.size(), 0);
    batch_.lines.assign(batch_.target_offsets.size() - 1, 0);
  }

  void fill(models::DecoderOnly& model) const {
    model.parameters().allocate();
    for (const auto& parameter : model.parameters().parameters()) {
      Tensor value = parameter->variable.value();
      value.copy_from(stored("param." + parameter->path));
    }
  }

  const Tensor& stored(const std::string& name) const {
    const auto found = stored_.find(name);
    if (found == stored_.end()) {
      throw std::runtime_error("the golden file has no " + name);
    }
    return found->second;
  }
  std::vector<int32_t> ids(const std::string& name) const { return stored(name).to_vector<int32_t>(); }

  models::DecoderOnly model_{GetParam().config()};
  tensor::NamedTensors stored_;
  data::Batch batch_;
};
INSTANTIATE_TEST_SUITE_P(Layouts, LanguageModelGolden, testing::Values(Golden{"gpt2", gpt2}, Golden{"llama", llama}),
                         [](const auto& golden) { return std::string(golden.param.name); });

TEST_P(LanguageModelGolden, LogitsAndAllGradientsEqualTransformers) {
  model_.parameters().allocate_gradients();
  const auto rows = models::make_token_rows(batch_.target_input, batch_.target_offsets);
  const auto n_tokens = static_cast<int64_t>(batch_.target_output.size());
  autograd::Tape tape;
  const autograd::TapeScope recording(&tape);
  const autograd::Variable hidden = model_.forward({{}, rows}, {});
  expect_close(model_.output().logits(hidden).value(), stored("logits"), "logits");
  const auto loss =
      ops::linear_cross_entropy(hidden, model_.output().weight, {}, Tensor::from(batch_.target_output, {n_tokens}),
                                {0.0F, 1.0 / static_cast<double>(n_tokens)})
          .loss;
  EXPECT_NEAR(loss.value().item(), stored("losses").to_vector<float>().front(), kTolerance);
  tape.backward(loss);
  for (const auto& parameter : model_.parameters().parameters()) {
    expect_close(parameter->variable.grad(), stored("grad." + parameter->path), "gradient of " + parameter->path);
  }
}

TEST_P(LanguageModelGolden, TenAdamWStepsLoseAsInPyTorch) {
  for (const int workers : {1, 2}) {
    models::DecoderOnly model(GetParam().config());
    fill(model);
    distributed::SingleProcess alone;
    const training::AdamOptions adam{.weight_decay = 0.1, .decayed = training::Decayed::kMatrices};
    training::DataParallel replicas(model, training::next_word_objective({.label_smoothing = 0.0}), adam, alone,
                                    {workers});
    const std::vector<float> losses = stored("losses").to_vector<float>();
    for (int step = 1; step <= 10; ++step) {
      const auto result = replicas.update(std::span(&batch_, 1), step, 2e-3, 1);
      const double expected = losses[static_cast<size_t>(step - 1)];
      EXPECT_NEAR(result.sums.loss_per_token(), expected, kTolerance * expected)
          << "step " << step << " with " << workers << " workers";
    }
  }
}

}  // namespace
}  // namespace dragoman
