// Laws of a decoder without an encoder, for the shapes of GPT-2, Llama and what lies between.
#include "models/decoder_only/decoder_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "ops/linear_cross_entropy.h"
#include "support/llama_config.h"
#include "support/model_gradients.h"

namespace dragoman::models {
namespace {

using Ids = std::vector<int32_t>;

DecoderOnlyConfig small() {
  DecoderOnlyConfig config;
  config.vocab_size = 37;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 24;
  config.n_heads = 4;
  config.max_positions = 24;
  return config;
}

DecoderOnlyConfig llama() {
  DecoderOnlyConfig config = test_support::as_llama(small());
  config.layer.n_kv_heads = 2;
  return config;
}

// Everything that neither of them has.
DecoderOnlyConfig others() {
  DecoderOnlyConfig config = llama();
  config.activation = kernels::Activation::kReluSquared;
  config.norm_order = nn::NormOrder::kPost;
  config.layer.biases = nn::Biases::kAttentionInput;
  config.layer.qk_norm = true;
  config.layer.d_head = 6;
  config.layer.window = 5;
  config.layer.initial_weights = nn::InitialWeights::kXavier;
  config.layer.scale_embedding = true;
  return config;
}

DecoderOnlyConfig narrow_keys() {
  DecoderOnlyConfig config = llama();
  config.layer.d_key = 2;
  return config;
}

struct Shape {
  const char* name;
  DecoderOnlyConfig (*config)();
};

class DecoderOnlyLaws : public testing::TestWithParam<Shape> {
 protected:
  DecoderOnlyLaws() : model_(GetParam().config()) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
    for (float& value : model_.parameters().mutable_values().span<float>()) {
      value *= 1.5F;  // sharper than fresh weights
    }
    model_.parameters().pack_weights();
  }

  // Logits [T, V] of a text fed at once.
  Tensor logits(const Ids& text) const {
    const autograd::NoGrad inference;
    return model_.output().logits(model_.forward({{}, one_sentence(text)}, {})).value();
  }

  // Logits of the last token of a text that was a prompt.
  Tensor after_prompt(Generation& generation, const Ids& text) const {
    const autograd::NoGrad inference;
    const std::span<const int32_t> prompt(text);
    const int32_t slot = generation.add({&prompt, 1}).at(0);
    return step(generation, {{slot, 0, text.back()}});
  }

  Tensor step(Generation& generation, const std::vector<StepRow>& rows) const {
    const autograd::NoGrad inference;
    return model_.output().logits(generation.step(rows)).value();
  }

  static Ids random_text(size_t length, uint64_t seed) {
    base::Random random(seed);
    Ids ids(length);
    for (int32_t& id : ids) {
      id = static_cast<int32_t>(random.below(37));
    }
    return ids;
  }

  DecoderOnly model_;
};
INSTANTIATE_TEST_SUITE_P(Shapes, DecoderOnlyLaws,
                         testing::Values(Shape{"Gpt2", small}, Shape{"Llama", llama}, Shape{"Others", others},
                                         Shape{"NarrowKeys", narrow_keys}),
                         [](const auto& shape) { return shape.param.name; });

MATCHER_P(RowIsNear, expected, "") {
  return testing::ExplainMatchResult(testing::Pointwise(testing::FloatNear(2e-4F), expected),
                                     arg.template to_vector<float>(), result_listener);
}

TEST_P(DecoderOnlyLaws, CachedEqualsUncached) {
  const Ids text = random_text(13, 2);
  const auto generation = model_.begin_generation();
  Tensor row = after_prompt(*generation, {text.begin(), text.begin() + 6});
  const Tensor whole = logits(text);
  for (int32_t t = 5; t < 12; ++t) {
    EXPECT_THAT(row, RowIsNear(whole.rows(t, t + 1).to_vector<float>())) << "position " << t;
    row = step(*generation, {{0, 0, text[static_cast<size_t>(t) + 1]}});
  }
}

TEST_P(DecoderOnlyLaws, APromptOfOneTokenNeedsNoReading) {
  const Ids text = random_text(1, 3);
  const auto generation = model_.begin_generation();
  EXPECT_THAT(after_prompt(*generation, text), RowIsNear(logits(text).to_vector<float>()));
}

TEST_P(DecoderOnlyLaws, APromptAloneHasTheBitsThatItHasInABatch) {
  const std::vector<Ids> texts = {random_text(3, 4), random_text(1, 5), random_text(11, 6), random_text(7, 7)};
  const auto together = model_.begin_generation();
  const std::vector<std::span<const int32_t>> prompts(texts.begin(), texts.end());
  const std::vector<int32_t> slots = together->add(prompts);
  std::vector<StepRow> rows;
  for (size_t i = 0; i < texts.size(); ++i) {
    rows.push_back({slots[i], 0, texts[i].back()});
  }
  const Tensor all = step(*together, rows);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto alone = model_.begin_generation();
    EXPECT_EQ(after_prompt(*alone, texts[i]).to_vector<float>(),
              all.rows(static_cast<int64_t>(i), static_cast<int64_t>(i) + 1).to_vector<float>());
  }
}

// Steps of each text by itself, and of all with their prompts shared: bit for bit the same.
TEST_P(DecoderOnlyLaws, PromptsThatShareTheirBeginningHaveTheBitsThatTheyHaveAlone) {
  const Ids base = random_text(12, 21);
  std::vector<Ids> texts = {base, base, {base.begin(), base.begin() + 5}, base, random_text(9, 22)};
  texts[3][7] = base[7] == 1 ? 2 : 1;
  texts.push_back(texts[3]);
  texts.back().insert(texts.back().end(), {4, 5, 6});
  const auto together = model_.begin_generation();
  const std::vector<std::span<const int32_t>> prompts(texts.begin(), texts.end());
  const std::vector<int32_t> slots = together->add(prompts);
  std::vector<std::unique_ptr<Generation>> alone;
  for (int32_t step_number = 0; step_number < 4; ++step_number) {
    std::vector<StepRow> rows;
    for (size_t i = 0; i < texts.size(); ++i) {
      rows.push_back({slots[i], 0, step_number == 0 ? texts[i].back() : static_cast<int32_t>(i) + step_number});
    }
    const Tensor all = step(*together, rows);
    for (size_t i = 0; i < texts.size(); ++i) {
      if (step_number == 0) {
        alone.push_back(model_.begin_generation());
      }
      const Tensor one =
          step_number == 0 ? after_prompt(*alone[i], texts[i]) : step(*alone[i], {{0, 0, rows[i].token_id}});
      EXPECT_EQ(one.to_vector<float>(),
                all.rows(static_cast<int64_t>(i), static_cast<int64_t>(i) + 1).to_vector<float>())
          << "text " << i << ", step " << step_number;
    }
  }
}

TEST_P(DecoderOnlyLaws, SharedRowsAreHeldOnceAndLiveAsLongAsSomeoneUsesThem) {
  DecoderOnlyGeneration generation(model_);
  const KeyValueCache& cache = generation.state().cache();
  const Ids text = random_text(12, 23), longer = [&] {
    Ids ids = text;
    ids.insert(ids.end(), {1, 2, 3});
    return ids;
  }();
  const std::vector<std::span<const int32_t>> prompts = {text, text, text};
  static_cast<void>(generation.add(prompts));
  EXPECT_EQ(cache.rows_in_use(), 11);  // all tokens but the last, once
  static_cast<void>(step(generation, {{0, 0, text.back()}, {1, 0, text.back()}, {2, 0, text.back()}}));
  EXPECT_EQ(cache.rows_in_use(), 11 + 3);
  const std::span<const int32_t> prompt(longer);
  const int32_t slot = generation.add({&prompt, 1}).front();  // beside those under way
  EXPECT_EQ(cache.rows_in_use(), 11 + 3 + 3);
  for (const int32_t old : {0, 1, 2}) {
    generation.remove(old);
  }
  EXPECT_EQ(cache.rows_in_use(), 11 + 3);
  const auto fresh = model_.begin_generation();
  EXPECT_EQ(step(generation, {{slot, 0, longer.back()}}).to_vector<float>(),
            after_prompt(*fresh, longer).to_vector<float>());
  generation.remove(slot);
  EXPECT_EQ(cache.rows_in_use(), 0);
}

// Random prompts come and go, step with several hypotheses and are compared with generations of their own.
TEST_P(DecoderOnlyLaws, SharingChangesNoBitWhoeverComesAndGoes) {
  struct Under {
    std::unique_ptr<Generation> alone;
    int32_t slot, token;
    int left;
    int32_t hypotheses = 1;
  };
  DecoderOnlyGeneration generation(model_);
  base::Random random(31);
  std::vector<Under> under;
  for (int round = 0; round < 40; ++round) {
    for (uint64_t count = random.below(3); count > 0; --count) {
      Ids text = random_text(1 + random.below(14), 40 + random.below(3));
      const std::span<const int32_t> prompt(text);
      Under added{model_.begin_generation(), generation.add({&prompt, 1}).front(), text.back(),
                  static_cast<int>(1 + random.below(6))};
      static_cast<void>(added.alone->add({&prompt, 1}));
      under.push_back(std::move(added));
    }
    std::vector<StepRow> rows;
    std::vector<float> expected;
    for (Under& one : under) {
      std::vector<StepRow> own;
      const auto count = static_cast<int32_t>(1 + random.below(3));
      for (int32_t hypothesis = 0; hypothesis < count; ++hypothesis) {
        const auto parent = static_cast<int32_t>(random.below(static_cast<uint64_t>(one.hypotheses)));
        const int32_t token = (one.token + hypothesis) % 37;
        rows.push_back({one.slot, parent, token});
        own.push_back({0, parent, token});
      }
      one.hypotheses = count;
      one.token = static_cast<int32_t>(random.below(30));
      const std::vector<float> logits = step(*one.alone, own).to_vector<float>();
      expected.insert(expected.end(), logits.begin(), logits.end());
    }
    if (!rows.empty()) {
      ASSERT_EQ(step(generation, rows).to_vector<float>(), expected) << "round " << round;
    }
    std::erase_if(under, [&](Under& one) {
      const bool ends = --one.left == 0;
      if (ends) {
        generation.remove(one.slot);
      }
      return ends;
    });
  }
  for (const Under& one : under) {
    generation.remove(one.slot);
  }
  EXPECT_EQ(generation.state().cache().rows_in_use(), 0);
}

TEST_P(DecoderOnlyLaws, LaterTokensChangeNothingEarlier) {
  Ids text = random_text(10, 8);
  const Tensor before = logits(text);
  text.back() = text.back() == 5 ? 6 : 5;
  const Tensor after = logits(text);
  EXPECT_EQ(before.rows(0, 9).to_vector<float>(), after.rows(0, 9).to_vector<float>());
  EXPECT_NE(before.rows(9, 10).to_vector<float>(), after.rows(9, 10).to_vector<float>());
}

TEST_P(DecoderOnlyLaws, HypothesesSeeTheHistoryOfTheirParent) {
  const Ids text = random_text(5, 9);
  const auto generation = model_.begin_generation();
  static_cast<void>(after_prompt(*generation, text));
  static_cast<void>(step(*generation, {{0, 0, 3}, {0, 0, 4}}));
  const Tensor crossed = step(*generation, {{0, 1, 7}, {0, 0, 8}});
  Ids first = text, second = text;
  first.insert(first.end(), {4, 7});
  second.insert(second.end(), {3, 8});
  EXPECT_THAT(crossed.rows(0, 1), RowIsNear(logits(first).rows(6, 7).to_vector<float>()));
  EXPECT_THAT(crossed.rows(1, 2), RowIsNear(logits(second).rows(6, 7).to_vector<float>()));
}

TEST_P(DecoderOnlyLaws, ARefilledSlotEqualsAFreshOne) {
  const auto generation = model_.begin_generation();
  static_cast<void>(after_prompt(*generation, random_text(9, 10)));
  generation->remove(0);
  EXPECT_EQ(generation->slots_in_use(), 0U);
  const Ids text = random_text(6, 11);
  const auto fresh = model_.begin_generation();
  EXPECT_EQ(after_prompt(*generation, text).to_vector<float>(), after_prompt(*fresh, text).to_vector<float>());
}

TEST_P(DecoderOnlyLaws, GradientsMatchCentralDifferences) {
  DecoderOnlyConfig config = GetParam().config();
  config.layers = 1;
  config.d_model = 8;
  config.d_ff = 6;
  config.n_heads = 2;
  config.layer.n_kv_heads = config.layer.n_kv_heads > 0 ? 1 : 0;
  config.vocab_size = 7;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.2F;
  config.activation = kernels::Activation::kGeluTanh;  // smooth: a kink would spoil the differences
  DecoderOnly model(config);
  model.parameters().allocate(tensor::DType::kFloat64);
  model.parameters().initialize(3);
  model.parameters().allocate_gradients();
  FlatIds text;
  text.append(Ids{1, 5, 2, 6, 0});
  text.end_sentence();
  text.append(Ids{3, 3, 4});
  text.end_sentence();
  const Tensor expected = Tensor::from(Ids{5, 2, 6, 0, 1, 3, 4, 2}, {8});
  const auto loss_of = [&] {
    const Variable hidden = model.forward({{}, make_token_rows(text)}, {.training = true, .seed = 1, .step = 1});
    return ops::linear_cross_entropy(hidden, model.output().weight, model.output().bias, expected, {0.1F, 0.25}).loss;
  };
  test_support::expect_gradients_match(model.parameters(), loss_of, 4, [](double) { return 1e-6; });
}

TEST(DecoderOnly, APromptThatFillsTheContextIsRefused) {
  const DecoderOnly model(small());
  const_cast<DecoderOnly&>(model).parameters().allocate();
  const auto generation = model.begin_generation();
  const Ids text(24, 1);
  const std::span<const int32_t> prompt(text);
  try {
    static_cast<void>(generation->add({&prompt, 1}));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_STREQ(error.what(), "prompt: 24 tokens, the model takes 24, the new ones counted; give a shorter prompt");
  }
  EXPECT_EQ(generation->slots_in_use(), 0U);
}

TEST(DecoderOnlyConfigText, GoesThereAndBack) {
  for (const DecoderOnlyConfig& config : {small(), llama(), others()}) {
    const std::string text = to_json(config);
    EXPECT_EQ(to_json(decoder_only_config_from_json(text, "config.json")), text);
  }
}

TEST(DecoderOnlyConfigText, WhatIsWrongIsNamed) {
  const auto error_of = [](const char* from, const char* to) -> std::string {
    std::string text = to_json(small());
    const size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    text.replace(place, std::string_view(from).size(), to);
    try {
      static_cast<void>(decoder_only_config_from_json(text, "config.json"));
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("\"n_heads\": 4", "\"n_heads\": 3"),
            "config.json: d_model is 16, must be a multiple of n_heads (3)");
  EXPECT_EQ(error_of("\"n_kv_heads\": 0", "\"n_kv_heads\": 3"),
            "config.json: n_heads is 4, must be a multiple of n_kv_heads (3)");
  EXPECT_THAT(error_of("\"layers\"", "\"layer\""), testing::HasSubstr("layers"));
  EXPECT_THAT(error_of("\"norm\": \"layer\"", "\"norm\": \"batch\""), testing::HasSubstr("layer, rms"));
}

}  // namespace
}  // namespace dragoman::models
