// What the page that looks inside is made of: the numbers must be the model's own, and agree with each other.
#include "decoding/inspection/inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "decoding/inspection/inspected_head.h"
#include "decoding/search/candidates.h"
#include "decoding/steps/model_steps.h"
#include "support/expect_error.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using tensor::Tensor;
using testing::HasSubstr;

Translator make_translator(nn::NormOrder order) {
  return {tiny_model(order, 1, vocabulary().size()), vocabulary(), vocabulary()};
}

SearchOptions options_of(int beam_size) {
  SearchOptions options;
  options.execution.workers = 1;
  options.beam_size = beam_size;
  options.length.max_length_extra = 10;
  return options;
}

const std::string kText = "the red cat sleeps, and the dog runs.";

class InspectionOf : public testing::TestWithParam<nn::NormOrder> {
 protected:
  Translator translator_ = make_translator(GetParam());
  Inspection inspection_{translator_, {kText, options_of(4)}};
};

/// Largest difference of two tensors of one shape.
double distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double largest = 0.0;
  for (int64_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a.data<float>()[i]) - b.data<float>()[i]));
  }
  return largest;
}

/// weights V, in double.
Tensor product(const Tensor& a, const Tensor& b) {
  Tensor result = Tensor::zeros({a.dim(0), b.dim(1)});
  for (int64_t row = 0; row < a.dim(0); ++row) {
    for (int64_t column = 0; column < b.dim(1); ++column) {
      double sum = 0.0;
      for (int64_t i = 0; i < a.dim(1); ++i) {
        sum += static_cast<double>(a.data<float>()[row * a.dim(1) + i]) * b.data<float>()[i * b.dim(1) + column];
      }
      result.data<float>()[row * b.dim(1) + column] = static_cast<float>(sum);
    }
  }
  return result;
}

TEST_P(InspectionOf, IsOfTheTranslation) {
  const Translation translation = translator_.translate({&kText, 1}, options_of(4)).front();
  EXPECT_EQ(inspection_.written(), translation.text);
  EXPECT_EQ(inspection_.predicted().size(), translation.token_scores.size());
  EXPECT_EQ(inspection_.input().front(), data::kBosId);
}

TEST_P(InspectionOf, EveryHeadFollowsFromItsQueriesKeysAndValues) {
  ASSERT_EQ(inspection_.attention_paths().size(), 6U) << "2 encoder layers, 2 decoder layers with two attentions each";
  for (const std::string& path : inspection_.attention_paths()) {
    for (int64_t head = 0; head < 4; ++head) {
      const InspectedHead seen = inspect_head(inspection_, path, head);
      ASSERT_EQ(seen.query.dim(1), 8) << "Dh = D / H";
      Tensor weights = seen.scaled.clone();  // becomes the soft-max of what the mask lets through
      const int64_t columns = weights.dim(1);
      for (int64_t row = 0; row < weights.dim(0); ++row) {
        float* cell = weights.data<float>() + row * columns;
        const int64_t visible = seen.causal ? row + 1 : columns;
        double sum = 0.0;
        for (int64_t column = 0; column < columns; ++column) {
          cell[column] = column < visible ? std::exp(cell[column]) : 0.0F;
          sum += cell[column];
        }
        double given = 0.0;
        for (int64_t column = 0; column < columns; ++column) {
          cell[column] = static_cast<float>(cell[column] / sum);
          given += seen.weights.data<float>()[row * columns + column];
        }
        EXPECT_NEAR(given, 1.0, 1e-5) << path << " head " << head << " row " << row << ": a row of weights sums to 1";
      }
      EXPECT_LT(distance(weights, seen.weights), 1e-5) << path << " head " << head << ": weights";
      EXPECT_LT(distance(product(seen.weights, seen.value), seen.context), 1e-4) << path << " head " << head;
    }
  }
}

TEST_P(InspectionOf, EachSubLayerReadsWhatTheOneBeforeItWrote) {
  const char* chain[] = {"decoder.layers.0.self_attention", "decoder.layers.0.cross_attention",
                         "decoder.layers.0.feed_forward", "decoder.layers.1.self_attention"};
  EXPECT_EQ(distance(inspection_.value("decoder.embedding", "sum"), inspection_.value(chain[0], "input")), 0.0);
  for (size_t i = 0; i + 1 < std::size(chain); ++i) {
    EXPECT_EQ(distance(inspection_.value(chain[i], "result"), inspection_.value(chain[i + 1], "input")), 0.0)
        << chain[i];
  }
  const Tensor hidden = inspection_.value(chain[2], "hidden"), active = inspection_.value(chain[2], "active");
  for (int64_t i = 0; i < hidden.size(); ++i) {
    ASSERT_EQ(active.data<float>()[i], std::max(0.0F, hidden.data<float>()[i])) << "ReLU of number " << i;
  }
}

TEST_P(InspectionOf, TheEmbeddingIsTheWordsPlusThePositions) {
  for (const char* path : {"encoder.embedding", "decoder.embedding"}) {
    Tensor sum = inspection_.value(path, "words").clone();
    const Tensor positions = inspection_.value(path, "positions");
    for (int64_t i = 0; i < sum.size(); ++i) {
      sum.data<float>()[i] += positions.data<float>()[i];
    }
    EXPECT_EQ(distance(sum, inspection_.value(path, "sum")), 0.0) << path;
  }
  EXPECT_EQ(inspection_.value("encoder.embedding", "positions").data<float>()[1], 1.0F) << "cos(0) at position 0";
}

TEST_P(InspectionOf, LogitsAreThoseOfTheDecoderStepByStep) {
  const auto steps = static_cast<int64_t>(inspection_.predicted().size());
  const Tensor logits = inspection_.logits(0, steps);  // [T, V]
  ModelSteps decoder(translator_.model());
  const std::span<const int32_t> source = inspection_.source();
  const int32_t slot = decoder.add({&source, 1}).front();
  for (int64_t step = 0; step < steps; ++step) {
    const StepRow row{slot, 0, inspection_.input()[static_cast<size_t>(step)]};
    EXPECT_LT(distance(decoder.step({&row, 1}), logits.rows(step, step + 1)), 1e-4) << "step " << step;
  }
  EXPECT_EQ(distance(inspection_.logits(1, 2), logits.rows(1, 2)), 0.0) << "one step alone";
}

TEST_P(InspectionOf, LogitsGiveTheScore) {
  const Tensor logits = inspection_.logits(0, static_cast<int64_t>(inspection_.predicted().size()));
  double sum = 0.0;
  for (size_t step = 0; step < inspection_.predicted().size(); ++step) {
    const auto row = logits.rows(static_cast<int64_t>(step), static_cast<int64_t>(step) + 1).span<float>();
    sum += row[static_cast<size_t>(inspection_.predicted()[step])] - log_normaliser(row);
  }
  EXPECT_NEAR(sum, translator_.translate({&kText, 1}, options_of(4)).front().score, 1e-4);
}

TEST_P(InspectionOf, TheBestLeafOfTheBeamTreeIsTheTranslation) {
  for (const int beam_size : {1, 2, 4, 7}) {
    const SearchResult traced = trace_search(translator_, inspection_.source(), {"", options_of(beam_size)}, 60);
    const Translation translation = translator_.translate({&kText, 1}, options_of(beam_size)).front();
    std::vector<int32_t> ids;
    double score = 0.0;
    for (int32_t node = traced.tree.finished.front().node; node >= 0;) {
      const BeamNode& at = traced.tree.nodes[static_cast<size_t>(node)];
      ids.insert(ids.begin(), at.token_id);
      score += at.log_prob;
      node = at.parent;
    }
    std::erase(ids, data::kEosId);
    EXPECT_EQ(ids, translation.ids) << "beam " << beam_size;
    EXPECT_EQ(traced.hypotheses.front().ids, translation.ids) << "beam " << beam_size;
    EXPECT_NEAR(score, translation.score, 1e-4) << "beam " << beam_size;
    EXPECT_EQ(traced.tree.finished.front().normalised_score, translation.normalised_score) << "beam " << beam_size;
  }
}

TEST_P(InspectionOf, ABeamTreeKeepsAtMostABeamAStepAndScoresFallAlongIt) {
  const BeamTree tree = trace_search(translator_, inspection_.source(), {"", options_of(4)}, 60).tree;
  std::map<int32_t, int> kept;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const BeamNode& node = tree.nodes[i];
    ASSERT_LT(node.parent, static_cast<int32_t>(i)) << "parents come first";
    EXPECT_LE(++kept[node.step], 4) << "step " << node.step;
    EXPECT_LE(node.log_prob, 0.0F);
    const double before = node.parent < 0 ? 0.0 : tree.nodes[static_cast<size_t>(node.parent)].score;
    EXPECT_NEAR(node.score, before + node.log_prob, 1e-5) << "node " << i;
    EXPECT_EQ(node.step, node.parent < 0 ? 0 : tree.nodes[static_cast<size_t>(node.parent)].step + 1);
  }
  EXPECT_LE(tree.finished.size(), 4U);
}

TEST_P(InspectionOf, AGivenTranslationIsFollowed) {
  const std::vector<int32_t> target = {7, 9, data::kEosId};
  const Inspection given(translator_, {kText, options_of(4), target});
  EXPECT_EQ(given.predicted(), target);
  EXPECT_EQ(given.input(), (std::vector<int32_t>{data::kBosId, 7, 9}));
  EXPECT_EQ(given.logits(0, 3).dim(0), 3);
}

TEST_P(InspectionOf, RefusalsSayWhatIsThere) {
  const auto refuses = [](const std::string& part, const std::function<void()>& action) {
    test_support::expect_error(base::ErrorKind::kUsage, {part}, action);
  };
  refuses("2 encoder", [&] { inspection_.value("encoder.layers.9.feed_forward", "hidden"); });
  refuses("decoder.layers.1.cross_attention", [&] { inspection_.weights("encoder.layers.0"); });
  refuses("has 4", [&] { inspect_head(inspection_, "encoder.layers.0.self_attention", 4); });
  refuses("step 3 is not in", [&] { inspection_.logits(3, 3); });
  refuses("blank", [&] { Inspection(translator_, {" ", {}}); });
  refuses("at most 5", [&] { Inspection(translator_, {kText, {}}, {5, 5}); });
  refuses("target_ids[1] is -4", [&] { Inspection(translator_, {kText, {}, {1, -4}}); });
  SearchOptions sampling;
  sampling.sampling.temperature = 1.0;
  refuses("beam search", [&] { Inspection(translator_, {kText, sampling}); });
}

INSTANTIATE_TEST_SUITE_P(BothOrders, InspectionOf, testing::Values(nn::NormOrder::kPost, nn::NormOrder::kPre),
                         [](const auto& order) { return order.param == nn::NormOrder::kPost ? "Post" : "Pre"; });

}  // namespace
}  // namespace dragoman::decoding
