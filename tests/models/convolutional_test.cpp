#include "models/convolutional/convolutional.h"

#include "encoder_decoder_laws.h"
#include "models/architectures/architectures.h"
#include "models/model_tensors.h"
#include "models/quantised_model.h"

namespace dragoman::models {
namespace {

struct Shape {
  const char* name;
  int kernel_width;
  int encoder_layers, decoder_layers;
  bool weight_norm = false;
};

constexpr Shape kShapes[] = {{"narrow", 2, 1, 1}, {"usual", 3, 3, 2}, {"wide", 6, 2, 3}, {"normed", 3, 2, 2, true}};

ConvolutionalConfig config_of(const Shape& shape) {
  ConvolutionalConfig config;
  config.source_vocab_size = config.target_vocab_size = kVocabulary;
  config.kernel_width = shape.kernel_width;
  config.encoder_layers = shape.encoder_layers;
  config.decoder_layers = shape.decoder_layers;
  config.weight_norm = shape.weight_norm;
  config.d_model = 20;
  config.d_hidden = 24;
  config.max_positions = 64;
  return config;
}

class ConvolutionalLaws : public testing::TestWithParam<Shape> {
 protected:
  ConvolutionalLaws() : model_(config_of(GetParam())) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
  }

  Convolutional model_;
};
INSTANTIATE_TEST_SUITE_P(Shapes, ConvolutionalLaws, testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(ConvolutionalLaws, ASentenceAloneEqualsTheSameInABatchBitForBit) {
  expect_a_sentence_alone_equals_it_in_a_batch(model_);
}

TEST_P(ConvolutionalLaws, LaterTokensChangeNothingEarlier) {
  expect_later_tokens_change_nothing_earlier(model_);
}

TEST_P(ConvolutionalLaws, StepsAndPrefillEqualTheTeacherForcedPassBitForBit) {
  expect_steps_and_prefill_equal_the_whole(model_);
}

TEST_P(ConvolutionalLaws, ReorderedBeamsSeeTheirOwnHistory) {
  expect_reordered_beams_see_their_own_history(model_);
}

TEST_P(ConvolutionalLaws, RefusesSlotsAndParentsThatAreNot) {
  expect_slots_and_parents_are_checked(model_, "convolutional generation");
}

TEST_P(ConvolutionalLaws, ShowsItsAttention) {
  expect_attention_is_shown(model_);
}

TEST_P(ConvolutionalLaws, DropoutFollowsTheRowOfTheUpdate) {
  expect_dropout_follows_the_row_of_the_update(model_);
}

TEST_P(ConvolutionalLaws, GradientsOfTheWholeModelMatchFiniteDifferences) {
  ConvolutionalConfig config = config_of(GetParam());
  config.d_model = 6;
  config.d_hidden = 5;
  Convolutional model(config);
  expect_gradients_match_differences(model);
}

TEST_P(ConvolutionalLaws, BFloat16IsNearFloat32) {
  expect_bfloat16_is_near_float32(model_, 0.1);  // scores have no factor, so the softmax is sharp
}

TEST_P(ConvolutionalLaws, AttentionOfEachLayerIsThere) {
  const FlatIds source = random_sentences({7}, 2);
  const auto generation = model_.begin_generation();
  const std::span<const int32_t> one = sentence(source, 0);
  const StepRow row{generation->add({&one, 1}).at(0), 0, 5};
  generation->step({&row, 1});
  EXPECT_FALSE(generation->attention(0).defined());  // not wanted
  generation->want_attention(std::vector<int>{0});
  EXPECT_EQ(generation->attention(0).shape(), (tensor::Shape{1, 7}));
}

TEST(ConvolutionalConfig, IsReadAsWritten) {
  for (const Shape& shape : kShapes) {
    const ModelConfig config = config_of(shape);
    const ModelConfig read = config_from_json(config.to_json(), "config.json");
    EXPECT_EQ(read.architecture(), "convolutional");
    EXPECT_EQ(read.to_json(), config.to_json());
  }
}

Tensor logits_of_two(const Model& model) {
  const FlatIds source = random_sentences({7, 3}, 2), target = random_sentences({6, 5}, 3);
  return logits_of(model, make_token_rows(source), make_token_rows(target));
}

double largest_difference(const Tensor& left, const Tensor& right) {
  const std::vector<float> a = left.to_vector<float>(), b = right.to_vector<float>();
  EXPECT_EQ(a.size(), b.size());
  double largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

TEST(WeightNormalisation, BeginsWithTheWeightsOfAPlainModel) {
  Convolutional normed(config_of(kShapes[3])), plain(config_of({"plain", 3, 2, 2}));
  for (Model* model : {static_cast<Model*>(&normed), static_cast<Model*>(&plain)}) {
    model->parameters().allocate();
    model->parameters().initialize(4);
  }
  EXPECT_GT(normed.parameters().count(), plain.parameters().count());
  EXPECT_LT(largest_difference(logits_of_two(normed), logits_of_two(plain)), 1e-4);
}

// The model as it is loaded from a folder in a precision.
std::unique_ptr<Convolutional> loaded_in(const Convolutional& model, kernels::Precision precision) {
  const tensor::NamedTensors stored = rounded_tensors(named_tensors(model.parameters()), model.parameters(), precision);
  auto loaded = std::make_unique<Convolutional>(model.convolutional_config());
  auto at = stored.begin();
  load_for_inference(
      [&]() -> std::optional<std::pair<std::string, Tensor>> {
        if (at == stored.end()) {
          return std::nullopt;
        }
        const auto& [name, tensor] = *at++;
        return std::pair(name, tensor);
      },
      loaded->parameters(), precision, "model.safetensors");
  return loaded;
}

// W_j = gain_j v_j / ||v_j|| in place of v and the gain.
void fold(const Convolutional& normed, Convolutional& plain) {
  for (const nn::ParameterHandle& parameter : plain.parameters().parameters()) {
    const std::vector<float> v = normed.parameters().find(parameter->path).variable.value().to_vector<float>();
    Tensor target = parameter->variable.value();
    std::ranges::copy(v, target.span<float>().begin());
    if (!parameter->is_matrix_weight || parameter->path == "embedding.weight") {
      continue;
    }
    const std::vector<float> gain =
        normed.parameters().find(parameter->path + "_gain").variable.value().to_vector<float>();
    for (size_t j = 0; j < gain.size(); ++j) {
      double square = 0.0;
      for (size_t i = j; i < v.size(); i += gain.size()) {
        square += static_cast<double>(v[i]) * static_cast<double>(v[i]);
      }
      for (size_t i = j; i < v.size(); i += gain.size()) {
        target.span<float>()[i] = static_cast<float>(static_cast<double>(v[i] * gain[j]) / std::sqrt(square));
      }
    }
  }
}

// A folder keeps directions and lengths; a model that is loaded for inference packs the directions. It is as near to
// the trained model as one whose weights were multiplied out.
TEST(WeightNormalisation, ALoadedModelIsTheTrainedOne) {
  Convolutional trained(config_of(kShapes[3])), plain(config_of({"plain", 3, 2, 2}));
  plain.parameters().allocate();
  trained.parameters().allocate();
  trained.parameters().initialize(4);
  for (const nn::ParameterHandle& parameter : trained.parameters().parameters()) {
    if (parameter->path.ends_with(".weight_gain")) {
      Tensor gains = parameter->variable.value();
      for (float& gain : gains.span<float>()) {
        gain *= 0.6F;  // where the softmax is not so sharp that rounding decides
      }
    }
  }
  fold(trained, plain);
  const Tensor expected = logits_of_two(trained);
  EXPECT_LT(largest_difference(logits_of_two(plain), expected), 1e-3);
  using kernels::Precision;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    const auto loaded = loaded_in(trained, precision);
    EXPECT_FALSE(loaded->parameters().find("encoder.layers.0.gate.weight").variable.defined());
    const double of_normed = largest_difference(logits_of_two(*loaded), expected);
    const double of_plain = largest_difference(logits_of_two(*loaded_in(plain, precision)), expected);
    EXPECT_LT(of_normed, 2.0 * of_plain + 1e-3) << kernels::name_of(precision);
  }
}

TEST(WeightNormalisation, IsInConfigurationsThatHaveItAlone) {
  for (const Shape& shape : kShapes) {
    EXPECT_EQ(to_json(config_of(shape)).find("weight_norm") != std::string::npos, shape.weight_norm) << shape.name;
  }
}

TEST(ConvolutionalConfig, RefusesAConvolutionOfOneRow) {
  ConvolutionalConfig config = config_of(kShapes[0]);
  config.kernel_width = 1;
  EXPECT_EQ(test_support::error_of([&] { config.check(); }), "kernel_width is 1, must be 2 to 63");
}

TEST(ConvolutionalConfig, BothTyingsOfTheEmbeddingsNeedOneVocabulary) {
  for (const Tying tying : {Tying::kNone, Tying::kTarget, Tying::kAll, Tying::kEmbeddings}) {
    ConvolutionalConfig config;
    config.tying = tying;
    EXPECT_EQ(config.sizes().one_vocabulary, shares_embeddings(tying)) << base::name_of(tying);
  }
}

}  // namespace
}  // namespace dragoman::models
