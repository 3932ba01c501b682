#include "models/recurrent/recurrent.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "models/architectures/architectures.h"
#include "ops/linear_cross_entropy.h"
#include "support/error_of.h"
#include "support/model_gradients.h"

namespace dragoman::models {
namespace {

using kernels::CellKind;

constexpr int32_t kVocabulary = 44;

FlatIds random_sentences(const std::vector<int32_t>& lengths, uint64_t seed) {
  base::Random random(seed);
  FlatIds sentences;
  for (const int32_t length : lengths) {
    for (int32_t word = 0; word < length; ++word) {
      sentences.ids.push_back(4 + static_cast<int32_t>(random.below(40)));
    }
    sentences.end_sentence();
  }
  return sentences;
}

std::span<const int32_t> sentence(const FlatIds& all, size_t index) {
  return std::span(all.ids).subspan(static_cast<size_t>(all.offsets[index]),
                                    static_cast<size_t>(all.offsets[index + 1] - all.offsets[index]));
}

struct Shape {
  const char* name;
  CellKind cell;
  RecurrentAttention attention;
  bool input_feeding;
  int layers;
};

constexpr Shape kShapes[] = {{"gru", CellKind::kGru, RecurrentAttention::kNone, false, 1},
                             {"gru_bahdanau", CellKind::kGru, RecurrentAttention::kBahdanau, false, 1},
                             {"gru_luong_3", CellKind::kGru, RecurrentAttention::kLuong, false, 3},
                             {"lstm_3", CellKind::kLstm, RecurrentAttention::kNone, false, 3},
                             {"lstm_bahdanau_2", CellKind::kLstm, RecurrentAttention::kBahdanau, false, 2},
                             {"lstm_luong", CellKind::kLstm, RecurrentAttention::kLuong, false, 1},
                             {"lstm_feeding", CellKind::kLstm, RecurrentAttention::kLuong, true, 1},
                             {"gru_feeding_2", CellKind::kGru, RecurrentAttention::kLuong, true, 2}};

RecurrentConfig config_of(const Shape& shape) {
  RecurrentConfig config;
  config.source_vocab_size = config.target_vocab_size = kVocabulary;
  config.cell = shape.cell;
  config.attention = shape.attention;
  config.input_feeding = shape.input_feeding;
  config.layers = shape.layers;
  config.d_model = 20;
  config.d_hidden = 24;
  return config;
}

class RecurrentLaws : public testing::TestWithParam<Shape> {
 protected:
  RecurrentLaws() : model_(config_of(GetParam())) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
  }

  Tensor logits(const TokenRows& source, const TokenRows& target) const {
    const autograd::NoGrad inference;
    return model_.output().logits(model_.forward({source, target}, {})).value();
  }
  // The logits of a step.
  static Tensor step(const Recurrent& model, Generation& generation, std::span<const StepRow> rows) {
    return model.output().logits(generation.step(rows)).value();
  }
  // The logits of the last token when `history` is fed alone.
  Tensor alone(std::span<const int32_t> source, const std::vector<int32_t>& history) const {
    const auto generation = model_.begin_generation();
    const int32_t slot = generation->add({&source, 1}).at(0);
    Tensor last;
    for (const int32_t id : history) {
      const StepRow row{slot, 0, id};
      last = step(model_, *generation, {&row, 1});
    }
    return last;
  }

  Recurrent model_;
};
INSTANTIATE_TEST_SUITE_P(Shapes, RecurrentLaws, testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(RecurrentLaws, ASentenceAloneEqualsTheSameInABatchBitForBit) {
  const FlatIds source = random_sentences({5, 1, 17, 8}, 2), target = random_sentences({4, 9, 1, 12}, 3);
  model_.parameters().pack_weights();
  const Tensor together = logits(make_token_rows(source), make_token_rows(target));
  for (size_t index = 0; index < 4; ++index) {
    const Tensor alone = logits(one_sentence(sentence(source, index)), one_sentence(sentence(target, index)));
    EXPECT_EQ(alone.to_vector<float>(),
              together.rows(target.offsets[index], target.offsets[index + 1]).to_vector<float>())
        << "sentence " << index;
  }
}

TEST_P(RecurrentLaws, LaterTokensChangeNothingEarlier) {
  const FlatIds source = random_sentences({6}, 2);
  FlatIds target = random_sentences({10}, 3);
  const Tensor before = logits(make_token_rows(source), make_token_rows(target));
  target.ids.back() = target.ids.back() == 5 ? 6 : 5;
  const Tensor after = logits(make_token_rows(source), make_token_rows(target));
  EXPECT_EQ(before.rows(0, 9).to_vector<float>(), after.rows(0, 9).to_vector<float>());
  EXPECT_NE(before.rows(9, 10).to_vector<float>(), after.rows(9, 10).to_vector<float>());
}

TEST_P(RecurrentLaws, StepsAndPrefillEqualTheTeacherForcedPassBitForBit) {
  const FlatIds source = random_sentences({7, 3}, 2), target = random_sentences({9, 9}, 3);
  model_.parameters().pack_weights();
  const Tensor whole = logits(make_token_rows(source), make_token_rows(target));
  const auto generation = model_.begin_generation();
  const std::span<const int32_t> sources[] = {sentence(source, 0), sentence(source, 1)};
  const std::vector<int32_t> slots = generation->add(sources);
  const int32_t fed = generation->add({sources, 1}).at(0);
  const Tensor prefilled = model_.output().logits(generation->prefill(fed, sentence(target, 0).first(5))).value();
  EXPECT_EQ(prefilled.to_vector<float>(), whole.rows(0, 5).to_vector<float>());
  for (int64_t t = 0; t < 9; ++t) {
    std::vector<StepRow> rows;
    for (size_t b = 0; b < 2; ++b) {
      rows.push_back({slots[b], 0, sentence(target, b)[static_cast<size_t>(t)]});
    }
    if (t >= 5) {
      rows.push_back({fed, 0, sentence(target, 0)[static_cast<size_t>(t)]});
    }
    const Tensor seen = step(model_, *generation, rows);
    EXPECT_EQ(seen.rows(0, 1).to_vector<float>(), whole.rows(t, t + 1).to_vector<float>()) << "step " << t;
    EXPECT_EQ(seen.rows(1, 2).to_vector<float>(), whole.rows(9 + t, 10 + t).to_vector<float>()) << "step " << t;
    if (t >= 5) {
      EXPECT_EQ(seen.rows(2, 3).to_vector<float>(), whole.rows(t, t + 1).to_vector<float>()) << "prefilled, " << t;
    }
  }
}

TEST_P(RecurrentLaws, ReorderedBeamsSeeTheirOwnHistory) {
  const FlatIds source = random_sentences({6, 4}, 5);
  const auto generation = model_.begin_generation();
  const std::span<const int32_t> sources[] = {sentence(source, 0), sentence(source, 1)};
  const std::vector<int32_t> slots = generation->add(sources);
  generation->remove(slots[1]);
  EXPECT_EQ(generation->add({&sources[1], 1}).at(0), slots[1]);  // a refilled slot is as a fresh one
  base::Random random(6);
  std::vector<std::vector<std::vector<int32_t>>> histories(2, {{}});
  for (int time = 0; time < 5; ++time) {
    std::vector<StepRow> rows;
    std::vector<std::vector<std::vector<int32_t>>> next(2);
    for (size_t b = 0; b < 2; ++b) {
      for (size_t i = 0; i < (time == 0 ? 1U : 3U); ++i) {
        const auto parent = static_cast<int32_t>(random.below(histories[b].size()));
        const int32_t token = time == 0 ? 2 : static_cast<int32_t>(4 + random.below(40));
        rows.push_back({slots[b], parent, token});
        next[b].push_back(histories[b][static_cast<size_t>(parent)]);
        next[b].back().push_back(token);
      }
    }
    const Tensor seen = step(model_, *generation, rows);
    int64_t row = 0;
    for (size_t b = 0; b < 2; ++b) {
      for (const std::vector<int32_t>& history : next[b]) {
        ASSERT_EQ(seen.rows(row, row + 1).to_vector<float>(), alone(sources[b], history).to_vector<float>())
            << "step " << time << " row " << row;
        ++row;
      }
    }
    histories = next;
  }
}

TEST_P(RecurrentLaws, RefusesSlotsAndParentsThatAreNot) {
  const auto generation = model_.begin_generation();
  const StepRow nowhere{3, 0, 5};
  EXPECT_EQ(test_support::error_of([&] {
              generation->step({&nowhere, 1});
            }),
            "recurrent generation: slot 3 is not in use");
  const FlatIds source = random_sentences({6}, 5);
  const std::span<const int32_t> one = sentence(source, 0);
  const StepRow orphan{generation->add({&one, 1}).at(0), 1, 5};
  EXPECT_EQ(test_support::error_of([&] {
              generation->step({&orphan, 1});
            }),
            "recurrent generation: slot 0 has 1 hypotheses, parent is 1");
}

// What an observer sees of a forward pass is what decoding shows.
class Seen : public nn::ForwardObserver {
 public:
  void observe(std::string_view path, int64_t sentence, const Tensor& weights) override {
    if (sentence == 1) {
      paths.emplace_back(path);
      weights_of_second = weights.clone();
    }
  }
  std::vector<std::string> paths;
  Tensor weights_of_second;
};

TEST_P(RecurrentLaws, ShowsItsAttention) {
  const FlatIds source = random_sentences({7, 3}, 2), target = random_sentences({9, 4}, 3);
  Seen seen;
  const autograd::NoGrad inference;
  model_.forward({make_token_rows(source), make_token_rows(target)}, {.observer = &seen});
  EXPECT_EQ(seen.paths, model_.cross_attention_paths());
  if (GetParam().attention == RecurrentAttention::kNone) {
    return;
  }
  ASSERT_EQ(seen.weights_of_second.shape(), (tensor::Shape{1, 4, 3}));
  const auto generation = model_.begin_generation();
  generation->want_attention(std::vector<int>{kLastLayer});
  const std::span<const int32_t> one = sentence(source, 1);
  const int32_t slot = generation->add({&one, 1}).at(0);
  generation->prefill(slot, sentence(target, 1));
  EXPECT_EQ(generation->attention(kLastLayer).to_vector<float>(), seen.weights_of_second.to_vector<float>());
  for (int64_t t = 0; t < 4; ++t) {
    const std::vector<float> row = generation->attention(kLastLayer).rows(t, t + 1).to_vector<float>();
    EXPECT_NEAR(row[0] + row[1] + row[2], 1.0F, 1e-5F);
  }
}

TEST_P(RecurrentLaws, DropoutFollowsTheRowOfTheUpdate) {
  const FlatIds source = random_sentences({5, 7}, 2), target = random_sentences({4, 9}, 3);
  const nn::ForwardContext training{.training = true, .seed = 5, .step = 9};
  const std::vector<float> whole =
      model_.forward({make_token_rows(source), make_token_rows(target)}, training).value().to_vector<float>();
  TokenRows source_shard = one_sentence(sentence(source, 1)), target_shard = one_sentence(sentence(target, 1));
  source_shard.rows.first_row = source.offsets[1];
  target_shard.rows.first_row = target.offsets[1];
  const std::vector<float> shard = model_.forward({source_shard, target_shard}, training).value().to_vector<float>();
  EXPECT_THAT(shard, testing::Pointwise(testing::FloatNear(1e-5F),
                                        std::span(whole).subspan(static_cast<size_t>(target.offsets[1]) * 20)));
}

// The whole model in float64: gradients of every parameter against finite differences, dropout on.
TEST_P(RecurrentLaws, GradientsOfTheWholeModelMatchFiniteDifferences) {
  RecurrentConfig config = config_of(GetParam());
  config.d_model = 6;
  config.d_hidden = 5;
  Recurrent model(config);
  model.parameters().allocate(tensor::DType::kFloat64);
  model.parameters().initialize(4);
  model.parameters().allocate_gradients();
  const FlatIds source = random_sentences({3, 2}, 2), target = random_sentences({2, 4}, 3);
  const Tensor expected = Tensor::from(random_sentences({6}, 5).ids, {6});
  const auto loss_of = [&] {
    const Variable hidden =
        model.forward({make_token_rows(source), make_token_rows(target)}, {.training = true, .seed = 1, .step = 1});
    return ops::linear_cross_entropy(hidden, model.output().weight, {}, expected, {0.1F, 0.25}).loss;
  };
  test_support::expect_gradients_match(model.parameters(), loss_of, 3, [](double) { return 1e-7; });
}

TEST_P(RecurrentLaws, BFloat16IsNearFloat32) {
  const FlatIds source = random_sentences({5, 7}, 2), target = random_sentences({4, 9}, 3);
  const auto gradients = [&](kernels::Precision precision) {
    model_.parameters().allocate_packing(precision);
    model_.parameters().packing()->pack(0, 1);
    model_.parameters().allocate_gradients();
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    const Variable hidden =
        model_.forward({make_token_rows(source), make_token_rows(target)}, {.training = true, .seed = 1, .step = 1});
    tape.backward(ops::linear_cross_entropy(hidden, model_.output().weight, {},
                                            Tensor::from(random_sentences({13}, 5).ids, {13}), {0.1F, 0.25})
                      .loss);
    return model_.parameters().gradients().to_vector<float>();
  };
  const std::vector<float> exact = gradients(kernels::Precision::kFloat32);
  EXPECT_THAT(gradients(kernels::Precision::kBFloat16), testing::Pointwise(testing::FloatNear(0.05F), exact));
}

TEST(RecurrentConfig, IsReadAsWritten) {
  for (const Shape& shape : kShapes) {
    const ModelConfig config = config_of(shape);
    const ModelConfig read = config_from_json(config.to_json(), "config.json");
    EXPECT_EQ(read.architecture(), "recurrent");
    EXPECT_EQ(read.to_json(), config.to_json());
  }
}

TEST(RecurrentConfig, RefusesInputFeedingWithoutLuong) {
  RecurrentConfig config = config_of(kShapes[1]);
  config.input_feeding = true;
  EXPECT_EQ(test_support::error_of([&] { config.check(); }),
            "input_feeding is for attention \"luong\"; attention is \"bahdanau\"");
}

}  // namespace
}  // namespace dragoman::models
