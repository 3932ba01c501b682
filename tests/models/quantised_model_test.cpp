#include "models/quantised_model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "models/model_tensors.h"
#include "models/transformer/transformer.h"
#include "support/error_of.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

using kernels::Precision;
using tensor::DType;
using tensor::NamedTensors;
using tensor::Tensor;

TransformerConfig small_config(Tying tying) {
  TransformerConfig config = test_support::tiny_config(70);
  config.d_model = 24;
  config.d_ff = 50;
  config.encoder_layers = config.decoder_layers = 1;
  config.positions = nn::PositionKind::kLearned;
  config.max_positions = 20;
  config.tying = tying;
  config.output_bias = true;
  return config;
}

struct Made {
  explicit Made(Tying tying = Tying::kTarget) : model(small_config(tying)) {
    model.parameters().allocate();
    model.parameters().initialize(7);
    tensors = named_tensors(model.parameters());
  }
  Transformer model;
  NamedTensors tensors;
};

std::vector<float> logits_of(const Transformer& model) {
  const autograd::NoGrad inference;
  const std::vector<int32_t> source = {9, 5, 69, 3}, target = {2, 8, 44};
  return model.output()
      .logits(model.forward({one_sentence(source), one_sentence(target)}, {}))
      .value()
      .to_vector<float>();
}

// As the tensors of a file, in the order of their names or backwards.
void load(const NamedTensors& tensors, Transformer& model, Precision precision, bool backwards = false) {
  std::vector<std::pair<std::string, Tensor>> left(tensors.begin(), tensors.end());  // the next is the last
  if (!backwards) {
    std::ranges::reverse(left);
  }
  const auto next = [&]() -> std::optional<std::pair<std::string, Tensor>> {
    if (left.empty()) {
      return std::nullopt;
    }
    auto named = std::move(left.back());
    left.pop_back();
    return named;
  };
  load_for_inference(next, model.parameters(), precision, "m/model.safetensors");
}

std::vector<float> logits_of_loaded(const NamedTensors& tensors, Tying tying, Precision precision,
                                    bool backwards = false) {
  Transformer model(small_config(tying));
  load(tensors, model, precision, backwards);
  return logits_of(model);
}

TEST(QuantisedModel, Float32LoadedForInferenceIsTheModel) {
  for (const Tying tying : {Tying::kNone, Tying::kTarget, Tying::kAll}) {
    Made made(tying);
    made.model.parameters().pack_weights();
    EXPECT_EQ(logits_of_loaded(made.tensors, tying, Precision::kFloat32), logits_of(made.model));
    EXPECT_EQ(logits_of_loaded(made.tensors, tying, Precision::kFloat32, true), logits_of(made.model)) << "backwards";
  }
}

// Rounding when the file is written and rounding when it is read give the same bits.
TEST(QuantisedModel, AFileOfRoundedWeightsIsTheModelRoundedAtLoad) {
  for (const Tying tying : {Tying::kNone, Tying::kAll}) {
    const Made made(tying);
    for (const Precision precision : {Precision::kBFloat16, Precision::kInt8}) {
      const NamedTensors rounded = rounded_tensors(made.tensors, made.model.parameters(), precision);
      EXPECT_EQ(stored_precision(rounded), precision);
      const std::vector<float> expected = logits_of_loaded(made.tensors, tying, precision);
      EXPECT_EQ(logits_of_loaded(rounded, tying, precision), expected) << name_of(precision);
      EXPECT_EQ(logits_of_loaded(rounded, tying, precision, true), expected) << name_of(precision) << ", backwards";
    }
  }
}

TEST(QuantisedModel, RoundedWeightsAreSmallAndNear) {
  const Made made;
  const NamedTensors rounded = rounded_tensors(made.tensors, made.model.parameters(), Precision::kInt8);
  const std::string name = "decoder.layers.0.feed_forward.inner.weight";
  EXPECT_EQ(rounded.at(name).dtype(), DType::kInt8);
  EXPECT_EQ(rounded.at(name).shape(), made.tensors.at(name).shape());
  EXPECT_EQ(rounded.at(name + ".scales").shape(), tensor::Shape{50});
  EXPECT_EQ(rounded.at("target_embedding.weight.scales").shape(), tensor::Shape{70});
  EXPECT_EQ(rounded.at("output.bias").dtype(), DType::kFloat32);
  EXPECT_EQ(rounded.at("encoder.embedding.positions").dtype(), DType::kFloat32);
  const auto exact = logits_of_loaded(made.tensors, Tying::kTarget, Precision::kFloat32);
  const auto near = logits_of_loaded(rounded, Tying::kTarget, Precision::kFloat32);
  for (size_t i = 0; i < exact.size(); ++i) {
    ASSERT_NEAR(near[i], exact[i], 0.1) << "logit " << i << " of int8 weights multiplied in float32";
  }
}

TEST(QuantisedModel, StoredPrecisionOfAPlainModelIsFloat32) {
  EXPECT_EQ(stored_precision(Made().tensors), Precision::kFloat32);
}

TEST(QuantisedModel, DamagedTensorsAreNamed) {
  const Made made;
  const NamedTensors whole = rounded_tensors(made.tensors, made.model.parameters(), Precision::kInt8);
  const std::string name = "output.bias", weight = "target_embedding.weight";
  const auto error_with = [&](const std::function<void(NamedTensors&)>& damage) {
    NamedTensors tensors = whole;
    damage(tensors);
    return test_support::error_of([&] { logits_of_loaded(tensors, Tying::kTarget, Precision::kInt8); });
  };
  EXPECT_EQ(
      error_with([&](NamedTensors& tensors) { tensors.erase(name); }),
      "m/model.safetensors: tensor 'output.bias' is missing; config.json and the weights are of different models");
  EXPECT_EQ(
      error_with([&](NamedTensors& tensors) { tensors.erase(weight + ".scales"); }),
      "m/model.safetensors: tensor 'target_embedding.weight' is int8 and has no 'target_embedding.weight.scales'; "
      "the file is damaged or hostile");
  EXPECT_EQ(
      error_with([&](NamedTensors& tensors) { tensors[weight + ".scales"] = Tensor::zeros({3}); }),
      "m/model.safetensors: tensor 'target_embedding.weight.scales' is float32 [3], must be float32 [70]; the file "
      "is damaged or hostile");
  EXPECT_EQ(
      error_with([&](NamedTensors& tensors) { tensors[weight + ".scales"] = Tensor::full({70}, -0.5); }),
      "m/model.safetensors: tensor 'target_embedding.weight.scales': element 0 is -0.5, must not be negative; the "
      "file is damaged or hostile");
  EXPECT_EQ(error_with([&](NamedTensors& tensors) {
              tensors[weight] = tensors[weight].clone();
              tensors[weight].data<int8_t>()[17] = -128;
            }),
            "m/model.safetensors: tensor 'target_embedding.weight': element 17 is -128, must be from -127 to 127; the "
            "file is damaged or hostile");
  EXPECT_EQ(error_with([&](NamedTensors& tensors) { tensors["more"] = Tensor::zeros({1}); }),
            "m/model.safetensors: tensor 'more' belongs to no part of the model; config.json and the weights are of "
            "different models");
  EXPECT_EQ(error_with([&](NamedTensors& tensors) { tensors["output.bias.scales"] = Tensor::zeros({70}); }),
            "m/model.safetensors: tensor 'output.bias.scales' belongs to no part of the model; config.json and the "
            "weights are of different models");
  EXPECT_EQ(
      error_with([&](NamedTensors& tensors) { tensors[name] = tensors[name].to(DType::kBFloat16); }),
      "m/model.safetensors: tensor 'output.bias' is bfloat16, must be float32; config.json and the weights are of "
      "different models");
  EXPECT_EQ(error_with([&](NamedTensors& tensors) {
              tensors[weight] = Tensor::zeros({2, 2}, DType::kInt8);
            }),
            "m/model.safetensors: tensor 'target_embedding.weight' has shape [2, 2], config.json asks for [70, 24]; "
            "config.json and the weights are of different models");
}

TEST(QuantisedModel, CannotBeLoadedToTrain) {
  Made made;
  const NamedTensors rounded = rounded_tensors(made.tensors, made.model.parameters(), Precision::kBFloat16);
  EXPECT_THAT(test_support::error_of([&] { load_tensors(rounded, made.model.parameters(), "m/model.safetensors"); }),
              testing::HasSubstr("rounded by `dragoman quantize`"));
}

}  // namespace
}  // namespace dragoman::models
