#include "models/transformer/transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "ops/linear_cross_entropy.h"
#include "ops/matmul.h"
#include "support/model_gradients.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

struct Sentences {
  std::vector<int32_t> ids;
  std::vector<int32_t> offsets{0};
};

Sentences random_sentences(std::vector<int32_t> lengths, uint64_t seed) {
  base::Random random(seed);
  Sentences sentences;
  for (const int32_t length : lengths) {
    for (int32_t word = 0; word < length; ++word) {
      sentences.ids.push_back(4 + static_cast<int32_t>(random.below(40)));
    }
    sentences.offsets.push_back(static_cast<int32_t>(sentences.ids.size()));
  }
  return sentences;
}

Sentences one_of(const Sentences& all, size_t index) {
  const auto begin = all.ids.begin() + all.offsets[index], end = all.ids.begin() + all.offsets[index + 1];
  return {{begin, end}, {0, static_cast<int32_t>(end - begin)}};
}

TokenRows rows_of(const Sentences& sentences) {
  return make_token_rows(sentences.ids, sentences.offsets);
}

struct Norms {
  nn::NormOrder order;
  kernels::NormKind kind;  // of the encoder, if it is kBatch
};

TransformerConfig config_of(const Norms& norms) {
  TransformerConfig config = test_support::tiny_config(44);
  config.encoder_layers = 3;
  config.norm_order = norms.order;
  config.layer.norm = norms.kind;
  config.dropout = 0.3F;
  config.attention_dropout = 0.1F;
  config.activation_dropout = 0.1F;
  return config;
}

class TransformerLaws : public testing::TestWithParam<Norms> {
 protected:
  TransformerLaws() : model_(config_of(GetParam())) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
  }

  Tensor logits(const Sentences& source, const Sentences& target) const {
    return model_.output().logits(model_.forward({rows_of(source), rows_of(target)}, {})).value();
  }

  Transformer model_;
};
INSTANTIATE_TEST_SUITE_P(OrdersAndKinds, TransformerLaws,
                         testing::Values(Norms{nn::NormOrder::kPost, kernels::NormKind::kLayer},
                                         Norms{nn::NormOrder::kPre, kernels::NormKind::kLayer},
                                         Norms{nn::NormOrder::kPost, kernels::NormKind::kBatch},
                                         Norms{nn::NormOrder::kPre, kernels::NormKind::kBatch}));

TEST_P(TransformerLaws, ASentenceAloneEqualsTheSameInABatchBitForBit) {
  const Sentences source = random_sentences({5, 1, 17, 8}, 2), target = random_sentences({4, 9, 1, 12}, 3);
  model_.parameters().pack_weights();
  const Tensor together = logits(source, target);
  for (size_t index = 0; index < 4; ++index) {
    const Tensor alone = logits(one_of(source, index), one_of(target, index));
    EXPECT_EQ(alone.to_vector<float>(),
              together.rows(target.offsets[index], target.offsets[index + 1]).to_vector<float>())
        << "sentence " << index;
  }
}

TEST_P(TransformerLaws, LaterTokensChangeNothingEarlier) {
  const Sentences source = random_sentences({6}, 2);
  Sentences target = random_sentences({10}, 3);
  model_.parameters().pack_weights();
  const Tensor before = logits(source, target);
  target.ids.back() = target.ids.back() == 5 ? 6 : 5;
  const Tensor after = logits(source, target);
  EXPECT_EQ(before.rows(0, 9).to_vector<float>(), after.rows(0, 9).to_vector<float>());
  EXPECT_NE(before.rows(9, 10).to_vector<float>(), after.rows(9, 10).to_vector<float>());
}

TEST_P(TransformerLaws, PackedWeightsComputeTheSameModel) {
  const Sentences source = random_sentences({5, 7}, 2), target = random_sentences({4, 9}, 3);
  const std::vector<float> plain = logits(source, target).to_vector<float>();
  model_.parameters().pack_weights();
  const std::vector<float> packed = logits(source, target).to_vector<float>();
  for (size_t index = 0; index < plain.size(); ++index) {
    ASSERT_NEAR(plain[index], packed[index], 2e-5) << "logit " << index;
  }
}

TEST_P(TransformerLaws, DropoutFollowsSeedStepAndRowAlone) {
  const Sentences source = random_sentences({5, 7}, 2), target = random_sentences({4, 9}, 3);
  const auto run = [&](uint64_t seed, uint32_t step) {
    return model_.forward({rows_of(source), rows_of(target)}, {.training = true, .seed = seed, .step = step})
        .value()
        .to_vector<float>();
  };
  EXPECT_EQ(run(1, 1), run(1, 1));
  EXPECT_NE(run(1, 1), run(1, 2));
  EXPECT_NE(run(1, 1), run(2, 1));

  if (GetParam().kind == kernels::NormKind::kBatch) {
    return;  // a part alone has other statistics than the batch
  }
  // The second sentence as a shard of its own, told where its rows stand in the whole batch.
  TokenRows source_shard = rows_of(one_of(source, 1)), target_shard = rows_of(one_of(target, 1));
  source_shard.rows.first_row = source.offsets[1];
  target_shard.rows.first_row = target.offsets[1];
  const std::vector<float> whole = run(5, 9);
  const std::vector<float> shard =
      model_.forward({source_shard, target_shard}, {.training = true, .seed = 5, .step = 9}).value().to_vector<float>();
  const size_t skipped = static_cast<size_t>(target.offsets[1]) * 32;
  for (size_t index = 0; index < shard.size(); ++index) {
    ASSERT_NEAR(shard[index], whole[skipped + index], 1e-4) << "element " << index;
  }
}

// The only replica.
class AloneWithStatistics : public nn::BatchStatistics {
 public:
  void sum(std::span<double>) override {}
  void keep(const Tensor& running, std::span<const double> latest) override { nn::move_running(running, latest); }
};

// What each batch norm has kept after one update of whole texts, or of texts with missing words.
std::map<std::string, std::vector<float>> kept_statistics(float word_cut) {
  TransformerConfig config = config_of({nn::NormOrder::kPre, kernels::NormKind::kBatch});
  config.embedding_norm = true;
  Transformer model(config);
  model.parameters().allocate();
  model.parameters().initialize(1);
  model.parameters().allocate_gradients();
  const Sentences source = random_sentences({5, 7, 1}, 2), target = random_sentences({4, 9, 3}, 3);
  AloneWithStatistics statistics;
  autograd::Tape tape;
  const autograd::TapeScope recording(&tape);
  const Variable hidden = model.forward({rows_of(source), rows_of(target)},
                                        {.training = true, .word_cut = word_cut, .statistics = &statistics});
  const Tensor expected = Tensor::from(random_sentences({16}, 5).ids, {16});
  tape.backward(ops::linear_cross_entropy(hidden, model.output().weight, {}, expected, {0.1F, 0.25}).loss);
  std::map<std::string, std::vector<float>> kept;
  for (const nn::ParameterHandle& parameter : model.parameters().parameters()) {
    if (parameter->path.ends_with(".running_variance")) {
      kept[parameter->path] = parameter->variable.value().to_vector<float>();
    }
  }
  return kept;
}

TEST(TransformerBatchNorms, EachKeepsTheStatisticsOfWholeTexts) {
  const auto kept = kept_statistics(0.0F), cut = kept_statistics(0.5F);
  EXPECT_EQ(kept.size(), 8U);  // behind the embedding, two in each of three layers, at the end
  for (const auto& [path, variances] : kept) {
    const std::vector<float> first(variances.size(), 1.0F);
    EXPECT_NE(variances, first) << path;
    EXPECT_EQ(cut.at(path), first) << path;
  }
}

// A layer that is computed again in the backward meets the same masks, and the encoder's output collects the gradients
// of all decoder layers in the same order.
TEST_P(TransformerLaws, RecomputedLayersGiveTheSameGradientsBitForBit) {
  const Sentences source = random_sentences({5, 7, 1}, 2), target = random_sentences({4, 9, 3}, 3);
  const Tensor expected = Tensor::from(random_sentences({16}, 5).ids, {16});
  const auto gradients = [&](nn::Recompute recompute) {
    model_.parameters().allocate_gradients();
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    const Variable hidden = model_.forward({rows_of(source), rows_of(target)},
                                           {.training = true, .seed = 1, .step = 1, .recompute = recompute});
    tape.backward(ops::linear_cross_entropy(hidden, model_.output().weight, {}, expected, {0.1F, 0.25}).loss);
    return model_.parameters().gradients().to_vector<float>();
  };
  const std::vector<float> kept = gradients(nn::Recompute::kNone), again = gradients(nn::Recompute::kLayers);
  for (const auto& parameter : model_.parameters().parameters()) {
    const auto begin = static_cast<size_t>(parameter->offset),
               end = begin + static_cast<size_t>(parameter->shape.size());
    EXPECT_TRUE(std::equal(kept.begin() + begin, kept.begin() + end, again.begin() + begin)) << parameter->path;
    if (parameter->path.find(".running_") != std::string::npos) {
      continue;  // of batch norms: no gradient
    }
    EXPECT_TRUE(std::any_of(kept.begin() + begin, kept.begin() + end, [](float value) { return value != 0.0F; }))
        << parameter->path << " has no gradient at all";
  }
}

TEST_P(TransformerLaws, TheOutputBiasIsAddedToEveryLogit) {
  const Sentences source = random_sentences({5, 7}, 2), target = random_sentences({4, 9}, 3);
  const Tensor plain = logits(source, target);
  TransformerConfig config = config_of(GetParam());
  config.output_bias = true;
  Transformer biased(config);
  biased.parameters().allocate();
  biased.parameters().initialize(1);
  Tensor bias = biased.output().bias.value();  // [V]
  for (int64_t id = 0; id < bias.size(); ++id) {
    bias.data<float>()[id] = static_cast<float>(id) - 7.5F;
  }
  for (const bool packed : {false, true}) {
    if (packed) {
      biased.parameters().pack_weights();
    }
    const Tensor seen =
        biased.output().logits(biased.forward({rows_of(source), rows_of(target)}, {})).value();  // [N, V]
    for (int64_t index = 0; index < seen.size(); ++index) {
      ASSERT_NEAR(seen.data<float>()[index], plain.data<float>()[index] + static_cast<float>(index % 44) - 7.5F, 2e-4)
          << "logit " << index << (packed ? ", packed" : "");
    }
  }
}

// The whole model in float64: every parameter's gradient against finite differences, dropout on.
TEST_P(TransformerLaws, GradientsOfTheWholeModelMatchFiniteDifferences) {
  TransformerConfig config = config_of(GetParam());
  config.d_model = 8;
  config.d_ff = 12;
  config.n_heads = 2;
  config.encoder_layers = config.decoder_layers = 1;
  config.positions = nn::PositionKind::kLearned;
  config.max_positions = 8;
  config.activation = kernels::Activation::kGelu;  // smooth: a kink would spoil the differences
  config.output_bias = true;
  config.decoder_d_ff = 10;
  config.decoder_n_heads = 4;
  Transformer model(config);
  model.parameters().allocate(tensor::DType::kFloat64);
  model.parameters().initialize(4);
  model.parameters().allocate_gradients();
  const Sentences source = random_sentences({3, 2}, 2), target = random_sentences({2, 4}, 3);
  const Tensor expected = Tensor::from(random_sentences({6}, 5).ids, {6});
  const auto loss_of = [&] {
    const Variable hidden = model.forward({rows_of(source), rows_of(target)}, {.training = true, .seed = 1, .step = 1});
    return ops::linear_cross_entropy(hidden, model.output().weight, model.output().bias, expected, {0.1F, 0.25}).loss;
  };
  test_support::expect_gradients_match(model.parameters(), loss_of, 3, [](double) { return 1e-7; });
}

}  // namespace
}  // namespace dragoman::models
