#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "models/model.h"
#include "ops/linear_cross_entropy.h"
#include "support/error_of.h"
#include "support/model_gradients.h"

namespace dragoman::models {

// Laws of every encoder-decoder whose hypotheses keep rows of states (StateSlots), with a vocabulary of kVocabulary.

inline constexpr int32_t kVocabulary = 44;

inline FlatIds random_sentences(const std::vector<int32_t>& lengths, uint64_t seed) {
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

inline std::span<const int32_t> sentence(const FlatIds& all, size_t index) {
  return std::span(all.ids).subspan(static_cast<size_t>(all.offsets[index]),
                                    static_cast<size_t>(all.offsets[index + 1] - all.offsets[index]));
}

inline Tensor logits_of(const Model& model, const TokenRows& source, const TokenRows& target) {
  const autograd::NoGrad inference;
  return model.output().logits(model.forward({source, target}, {})).value();
}

inline Tensor logits_of_step(const Model& model, Generation& generation, std::span<const StepRow> rows) {
  return model.output().logits(generation.step(rows)).value();
}

/// Returns: the logits of the last token when `history` is fed alone.
inline Tensor logits_alone(const Model& model, std::span<const int32_t> source, const std::vector<int32_t>& history) {
  const auto generation = model.begin_generation();
  const int32_t slot = generation->add({&source, 1}).at(0);
  Tensor last;
  for (const int32_t id : history) {
    const StepRow row{slot, 0, id};
    last = logits_of_step(model, *generation, {&row, 1});
  }
  return last;
}

inline void expect_a_sentence_alone_equals_it_in_a_batch(Model& model) {
  const FlatIds source = random_sentences({5, 1, 17, 8}, 2), target = random_sentences({4, 9, 1, 12}, 3);
  model.parameters().pack_weights();
  const Tensor together = logits_of(model, make_token_rows(source), make_token_rows(target));
  for (size_t index = 0; index < 4; ++index) {
    const Tensor alone = logits_of(model, one_sentence(sentence(source, index)), one_sentence(sentence(target, index)));
    EXPECT_EQ(alone.to_vector<float>(),
              together.rows(target.offsets[index], target.offsets[index + 1]).to_vector<float>())
        << "sentence " << index;
  }
}

inline void expect_later_tokens_change_nothing_earlier(const Model& model) {
  const FlatIds source = random_sentences({6}, 2);
  FlatIds target = random_sentences({10}, 3);
  const Tensor before = logits_of(model, make_token_rows(source), make_token_rows(target));
  target.ids.back() = target.ids.back() == 5 ? 6 : 5;
  const Tensor after = logits_of(model, make_token_rows(source), make_token_rows(target));
  EXPECT_EQ(before.rows(0, 9).to_vector<float>(), after.rows(0, 9).to_vector<float>());
  EXPECT_NE(before.rows(9, 10).to_vector<float>(), after.rows(9, 10).to_vector<float>());
}

/// @param tolerance  of the logits of steps beside those of the whole; 0: the same bits
inline void expect_steps_and_prefill_equal_the_whole(Model& model, float tolerance = 0.0F) {
  const FlatIds source = random_sentences({7, 3}, 2), target = random_sentences({9, 9}, 3);
  model.parameters().pack_weights();
  const Tensor whole = logits_of(model, make_token_rows(source), make_token_rows(target));
  const auto rows_of_whole = [&](int64_t begin, int64_t end) {
    return testing::Pointwise(testing::FloatNear(tolerance), whole.rows(begin, end).to_vector<float>());
  };
  const auto generation = model.begin_generation();
  const std::span<const int32_t> sources[] = {sentence(source, 0), sentence(source, 1)};
  const std::vector<int32_t> slots = generation->add(sources);
  const int32_t fed = generation->add({sources, 1}).at(0);
  const Tensor prefilled = model.output().logits(generation->prefill(fed, sentence(target, 0).first(5))).value();
  EXPECT_THAT(prefilled.to_vector<float>(), rows_of_whole(0, 5));
  for (int64_t t = 0; t < 9; ++t) {
    std::vector<StepRow> rows;
    for (size_t b = 0; b < 2; ++b) {
      rows.push_back({slots[b], 0, sentence(target, b)[static_cast<size_t>(t)]});
    }
    if (t >= 5) {
      rows.push_back({fed, 0, sentence(target, 0)[static_cast<size_t>(t)]});
    }
    const Tensor seen = logits_of_step(model, *generation, rows);
    EXPECT_THAT(seen.rows(0, 1).to_vector<float>(), rows_of_whole(t, t + 1)) << "step " << t;
    EXPECT_THAT(seen.rows(1, 2).to_vector<float>(), rows_of_whole(9 + t, 10 + t)) << "step " << t;
    if (t >= 5) {
      EXPECT_EQ(seen.rows(2, 3).to_vector<float>(), seen.rows(0, 1).to_vector<float>()) << "prefilled, " << t;
    }
  }
}

inline void expect_reordered_beams_see_their_own_history(const Model& model) {
  const FlatIds source = random_sentences({6, 4}, 5);
  const auto generation = model.begin_generation();
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
    const Tensor seen = logits_of_step(model, *generation, rows);
    int64_t row = 0;
    for (size_t b = 0; b < 2; ++b) {
      for (const std::vector<int32_t>& history : next[b]) {
        ASSERT_EQ(seen.rows(row, row + 1).to_vector<float>(),
                  logits_alone(model, sources[b], history).to_vector<float>())
            << "step " << time << " row " << row;
        ++row;
      }
    }
    histories = next;
  }
}

inline void expect_slots_and_parents_are_checked(const Model& model, const std::string& name) {
  const auto generation = model.begin_generation();
  const StepRow nowhere{3, 0, 5};
  EXPECT_EQ(test_support::error_of([&] { generation->step({&nowhere, 1}); }), name + ": slot 3 is not in use");
  const FlatIds source = random_sentences({6}, 5);
  const std::span<const int32_t> one = sentence(source, 0);
  const StepRow orphan{generation->add({&one, 1}).at(0), 1, 5};
  EXPECT_EQ(test_support::error_of([&] {
              generation->step({&orphan, 1});
            }),
            name + ": slot 0 has 1 hypotheses, parent is 1");
}

// What an observer sees of a forward pass is what decoding shows.
class SeenAttention : public nn::ForwardObserver {
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

inline void expect_attention_is_shown(const Model& model) {
  const FlatIds source = random_sentences({7, 3}, 2), target = random_sentences({9, 4}, 3);
  SeenAttention seen;
  const autograd::NoGrad inference;
  model.forward({make_token_rows(source), make_token_rows(target)}, {.observer = &seen});
  EXPECT_EQ(seen.paths, model.cross_attention_paths());
  if (seen.paths.empty()) {
    return;
  }
  ASSERT_EQ(seen.weights_of_second.shape(), (tensor::Shape{1, 4, 3}));
  const auto generation = model.begin_generation();
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

inline void expect_dropout_follows_the_row_of_the_update(const Model& model) {
  const FlatIds source = random_sentences({5, 7}, 2), target = random_sentences({4, 9}, 3);
  const nn::ForwardContext training{.training = true, .seed = 5, .step = 9};
  const std::vector<float> whole =
      model.forward({make_token_rows(source), make_token_rows(target)}, training).value().to_vector<float>();
  TokenRows source_shard = one_sentence(sentence(source, 1)), target_shard = one_sentence(sentence(target, 1));
  source_shard.rows.first_row = source.offsets[1];
  target_shard.rows.first_row = target.offsets[1];
  const auto width = static_cast<size_t>(model.config().sizes().d_model);
  const std::vector<float> shard = model.forward({source_shard, target_shard}, training).value().to_vector<float>();
  EXPECT_THAT(shard, testing::Pointwise(testing::FloatNear(1e-5F),
                                        std::span(whole).subspan(static_cast<size_t>(target.offsets[1]) * width)));
}

/// The whole model in float64: gradients of every parameter against finite differences, dropout on.
inline void expect_gradients_match_differences(Model& model) {
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

/// @param tolerance  of the gradients of all parameters, as one vector, relative to its length
inline void expect_bfloat16_is_near_float32(Model& model, double tolerance = 0.05) {
  const FlatIds source = random_sentences({5, 7}, 2), target = random_sentences({4, 9}, 3);
  const auto gradients = [&](kernels::Precision precision) {
    model.parameters().allocate_packing(precision);
    model.parameters().packing()->pack(0, 1);
    model.parameters().allocate_gradients();
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    const Variable hidden =
        model.forward({make_token_rows(source), make_token_rows(target)}, {.training = true, .seed = 1, .step = 1});
    tape.backward(ops::linear_cross_entropy(hidden, model.output().weight, {},
                                            Tensor::from(random_sentences({13}, 5).ids, {13}), {0.1F, 0.25})
                      .loss);
    return model.parameters().gradients().to_vector<float>();
  };
  const std::vector<float> exact = gradients(kernels::Precision::kFloat32);
  const std::vector<float> rounded = gradients(kernels::Precision::kBFloat16);
  double change = 0.0, whole = 0.0;
  for (size_t i = 0; i < exact.size(); ++i) {
    change += std::pow(static_cast<double>(rounded[i]) - static_cast<double>(exact[i]), 2);
    whole += std::pow(static_cast<double>(exact[i]), 2);
  }
  EXPECT_LT(std::sqrt(change / whole), tolerance);
}

}  // namespace dragoman::models
