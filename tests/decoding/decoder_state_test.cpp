// Laws of cached decoding with a real (tiny, random) Transformer.
#include "models/decoder/decoder_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "decoding/steps/model_steps.h"
#include "tiny_model.h"

namespace dragoman::decoding {
namespace {

using Ids = std::vector<int32_t>;

std::vector<float> row_of(const tensor::Tensor& matrix, int64_t row) {
  return matrix.rows(row, row + 1).to_vector<float>();
}

std::vector<int32_t> add(ModelSteps& steps, const std::vector<Ids>& sources) {
  return steps.add(std::vector<std::span<const int32_t>>(sources.begin(), sources.end()));
}

// Logits [T, V] of the whole target fed at once.
tensor::Tensor teacher_forced(const models::Transformer& model, const Ids& source, const Ids& input) {
  const autograd::NoGrad inference;
  const Ids source_offsets = {0, static_cast<int32_t>(source.size())};
  const Ids input_offsets = {0, static_cast<int32_t>(input.size())};
  const models::ModelInput rows{models::make_token_rows(source, source_offsets),
                                models::make_token_rows(input, input_offsets)};
  return model.output().logits(model.forward(rows, {})).value();
}

const models::DecoderState& state_of(const ModelSteps& steps) {
  const auto& generation = dynamic_cast<const models::TransformerGeneration&>(steps.generation());
  return dynamic_cast<const models::DecoderState&>(generation.memory());
}

// Logits of each step when `input` is fed token by token into one slot.
std::vector<std::vector<float>> step_logits(ModelSteps& steps, int32_t slot, const Ids& input) {
  std::vector<std::vector<float>> logits;
  for (const int32_t id : input) {
    const StepRow row{slot, 0, id};
    logits.push_back(row_of(steps.step({&row, 1}), 0));
  }
  return logits;
}

class DecoderStateLaws : public testing::TestWithParam<nn::NormOrder> {};
INSTANTIATE_TEST_SUITE_P(BothOrders, DecoderStateLaws, testing::Values(nn::NormOrder::kPost, nn::NormOrder::kPre));

TEST_P(DecoderStateLaws, CachedEqualsUncached) {
  const auto model = tiny_model(GetParam());
  const Ids input = {data::kBosId, 7, 30, 11, 11, 42, 5, 8, 23, 49, 4, 17};
  for (const Ids& source : random_sources(5, 3)) {
    ModelSteps steps(*model);
    const auto cached = step_logits(steps, add(steps, {source}).at(0), input);
    const tensor::Tensor whole = teacher_forced(*model, source, input);
    for (size_t t = 0; t < input.size(); ++t) {
      EXPECT_THAT(cached[t], testing::Pointwise(testing::FloatNear(1e-5F), row_of(whole, static_cast<int64_t>(t))))
          << "position " << t;
    }
  }
}

TEST_P(DecoderStateLaws, LaterTokensChangeNothingEarlier) {
  const auto model = tiny_model(GetParam());
  const Ids source = random_sources(1, 4).at(0);
  const Ids first = {data::kBosId, 7, 30, 11, 9, 9, 9};
  const Ids second = {data::kBosId, 7, 30, 11, 44, 45, 46};
  const tensor::Tensor a = teacher_forced(*model, source, first);
  const tensor::Tensor b = teacher_forced(*model, source, second);
  for (int64_t t = 0; t < 4; ++t) {
    EXPECT_EQ(row_of(a, t), row_of(b, t)) << "position " << t << " must be equal bit for bit";
  }
  EXPECT_NE(row_of(a, 4), row_of(b, 4));
}

// Beams that branch, swap and die must each see their own history: compare with feeding that history alone.
TEST_P(DecoderStateLaws, ReorderedBeamsSeeTheirOwnHistory) {
  const auto model = tiny_model(GetParam());
  const Ids source = random_sources(1, 5).at(0);
  ModelSteps steps(*model);
  const int32_t slot = add(steps, {source}).at(0);
  base::Random random(6);
  std::vector<Ids> histories = {{}};
  for (int step = 0; step < 10; ++step) {
    const size_t width = step == 0 ? 1 : 4;
    std::vector<StepRow> rows;
    std::vector<Ids> next;
    for (size_t i = 0; i < width; ++i) {
      const auto parent = static_cast<int32_t>(random.below(histories.size()));
      const int32_t token = step == 0 ? data::kBosId : static_cast<int32_t>(4 + random.below(46));
      rows.push_back({slot, parent, token});
      next.push_back(histories[static_cast<size_t>(parent)]);
      next.back().push_back(token);
    }
    const tensor::Tensor logits = steps.step(rows);
    for (size_t i = 0; i < width; ++i) {
      ModelSteps alone(*model);
      const auto expected = step_logits(alone, add(alone, {source}).at(0), next[i]).back();
      ASSERT_EQ(row_of(logits, static_cast<int64_t>(i)), expected) << "step " << step << " hypothesis " << i;
    }
    histories = next;
  }
}

// Four hypotheses follow the first of the four before: only their common history and their own tokens are kept.
TEST_P(DecoderStateLaws, RowsOfDeadHypothesesAreUsedAgain) {
  const auto model = tiny_model(GetParam());
  ModelSteps steps(*model);
  const int32_t slot = add(steps, random_sources(1, 5)).at(0);
  for (int32_t step = 0; step < 10; ++step) {
    std::vector<StepRow> rows;
    for (int32_t i = 0; i < 4; ++i) {
      rows.push_back({slot, 0, 4 + i});
    }
    steps.step(rows);
    EXPECT_EQ(state_of(steps).cache().rows_in_use(), step + 4) << "step " << step;
  }
  steps.remove(slot);
  EXPECT_EQ(state_of(steps).cache().rows_in_use(), 0);
}

TEST_P(DecoderStateLaws, RefilledSlotEqualsFreshState) {
  const auto model = tiny_model(GetParam());
  const auto sources = random_sources(6, 7);
  const Ids input = {data::kBosId, 5, 6, 7, 8};
  ModelSteps steps(*model);
  const auto slots = add(steps, {sources[0], sources[1], sources[2]});
  step_logits(steps, slots[1], {data::kBosId, 20, 21, 22, 23, 24, 25});
  steps.remove(slots[1]);
  EXPECT_EQ(state_of(steps).slots_in_use(), 2U);
  EXPECT_EQ(state_of(steps).cache().rows_in_use(), 0);
  const auto refilled = add(steps, {sources[3]});
  EXPECT_EQ(refilled.at(0), slots[1]) << "a freed slot is used again";
  ModelSteps fresh(*model);
  EXPECT_EQ(step_logits(steps, refilled.at(0), input), step_logits(fresh, add(fresh, {sources[3]}).at(0), input));
}

// int8 keys and values have a scale for each head of the decoder, which may have more heads than the encoder.
TEST(DecoderState, AnInt8CacheFollowsTheHeadsOfTheDecoder) {
  models::TransformerConfig config = test_support::tiny_config();
  config.decoder_n_heads = 2 * config.n_heads;
  models::Transformer model(config);
  model.parameters().allocate();
  model.parameters().initialize(7);
  const auto logits_in = [&](kernels::Precision precision) {
    model.parameters().pack_weights(precision);
    ModelSteps steps(model);
    return step_logits(steps, add(steps, random_sources(1, 3)).at(0), {data::kBosId, 5, 6, 7, 8, 9});
  };
  const auto exact = logits_in(kernels::Precision::kFloat32), rounded = logits_in(kernels::Precision::kInt8);
  for (size_t step = 0; step < exact.size(); ++step) {
    for (size_t v = 0; v < exact[step].size(); ++v) {
      EXPECT_NEAR(rounded[step][v], exact[step][v], 0.15) << "step " << step << ", token " << v;
    }
  }
}

TEST(DecoderState, RowsDoNotDependOnTheirNeighbours) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const auto sources = random_sources(9, 8);
  ModelSteps together(*model);
  const auto slots = add(together, sources);
  const Ids input = {data::kBosId, 33, 12, 40};
  for (const int32_t id : input) {
    std::vector<StepRow> rows;
    for (const int32_t slot : slots) {
      rows.push_back({slot, 0, id});
    }
    const tensor::Tensor logits = together.step(rows);
    for (size_t i = 0; i < sources.size(); ++i) {
      ModelSteps alone(*model);
      const int32_t slot = add(alone, {sources[i]}).at(0);
      const Ids so_far(input.begin(), std::ranges::find(input, id) + 1);
      ASSERT_EQ(row_of(logits, static_cast<int64_t>(i)), step_logits(alone, slot, so_far).back()) << "sentence " << i;
    }
  }
}

// More sentences than the encoder takes at a time, with one among the last that is refused: nothing of them stays, and
// the slots given next are those of a state that never saw them, which the members of an ensemble rely on.
TEST(DecoderState, SentencesThatCannotAllBeAddedLeaveNothing) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const auto sources = random_sources(150, 9);
  ModelSteps steps(*model), fresh(*model);
  const auto before = add(steps, {sources[0], sources[1], sources[2]});
  add(fresh, {sources[0], sources[1], sources[2]});
  steps.remove(before[1]);
  fresh.remove(before[1]);
  auto refused = sources;
  refused[140] = {4, 1'000'000, 5};
  EXPECT_THROW(add(steps, refused), base::Error);
  EXPECT_EQ(steps.slots_in_use(), 2U);
  const auto slots = add(steps, sources);
  EXPECT_EQ(slots, add(fresh, sources));
  const Ids input = {data::kBosId, 33, 12, 40};
  for (const size_t i : {0, 75, 149}) {  // of the first, a middle and the last encoded together
    ModelSteps alone(*model);
    const int32_t slot = add(alone, {sources[i]}).at(0);
    EXPECT_EQ(step_logits(steps, slots[i], input), step_logits(alone, slot, input)) << "sentence " << i;
  }
}

TEST(DecoderState, WrongSlotsAndParentsAreNamed) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  ModelSteps steps(*model);
  const int32_t slot = add(steps, random_sources(1, 9)).at(0);
  const auto message_of = [&](const StepRow& row) {
    try {
      steps.step({&row, 1});
    } catch (const base::Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message_of({slot + 1, 0, data::kBosId}), testing::HasSubstr("slot 1 is not in use"));
  EXPECT_THAT(message_of({slot, 3, data::kBosId}), testing::HasSubstr("parent is 3"));
  EXPECT_THROW(steps.remove(slot + 1), base::Error);
}

}  // namespace
}  // namespace dragoman::decoding
