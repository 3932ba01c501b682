// What the page shows of a recurrent model: each number equals one that loops in double compute from the weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "decoding/inspection/inspected_head.h"
#include "decoding/inspection/inspection.h"
#include "support/expect_error.h"
#include "tensor/transfer.h"
#include "tiny_recurrent.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using kernels::CellKind;
using models::RecurrentAttention;
using tensor::Tensor;
using testing::HasSubstr;
using Row = std::vector<double>;
using Rows = std::vector<Row>;

const std::string kText = "the red cat sleeps, and the dog runs.";

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

Row joined(Row left, const Row& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Row sum_of(const Row& left, const Row& right) {
  Row sum = left;
  for (size_t i = 0; i < sum.size() && !right.empty(); ++i) {
    sum[i] += right[i];
  }
  return sum;
}

Row tanh_of(Row row) {
  for (double& value : row) {
    value = std::tanh(value);
  }
  return row;
}

// Each weight of a model as rows in double.
class Weights {
 public:
  explicit Weights(const models::Model& model) {
    for (const auto& parameter : model.parameters().parameters()) {
      const tensor::HostView<float> values(parameter->variable.value());
      const size_t width = static_cast<size_t>(parameter->shape[parameter->shape.rank() - 1]);
      Rows& rows = weights_[parameter->path];
      for (size_t begin = 0; begin < values.size(); begin += width) {
        rows.emplace_back(values.begin() + static_cast<ptrdiff_t>(begin),
                          values.begin() + static_cast<ptrdiff_t>(begin + width));
      }
    }
  }
  bool has(const std::string& path) const { return weights_.contains(path); }
  const Rows& at(const std::string& path) const { return weights_.at(path); }
  /// x W, and b where there is one.
  Row linear(const Row& x, const std::string& weight, const std::string& bias = "") const {
    const Rows& w = at(weight);
    Row y = bias.empty() || !has(bias) ? Row(w.front().size()) : at(bias).front();
    for (size_t i = 0; i < w.size(); ++i) {
      for (size_t j = 0; j < y.size(); ++j) {
        y[j] += x[i] * w[i][j];
      }
    }
    return y;
  }
  Row map(const Row& x, const std::string& path) const { return linear(x, path + ".weight", path + ".bias"); }

 private:
  std::map<std::string, Rows> weights_;
};

// What a step of a cell computes.
struct Cell {
  Row input_sums, state_sums, fed_sums, gates, before, state, cell_before, cell;
};

// A recurrent model in loops over one pair of sentences: docs/recurrent.md, line by line.
class Naive {
 public:
  Naive(const models::Recurrent& model, std::span<const int32_t> source, std::span<const int32_t> input)
      : config_(model.recurrent_config()), weights_(model), h_(static_cast<size_t>(config_.d_hidden)) {
    encode(source);
    decode(input);
  }

  std::map<std::string, std::vector<Cell>> cells;  // of each layer and direction, by row
  Rows encoded, queries, keys, contexts, scores, attention, sums, hidden, logits;
  Row summary;
  std::vector<std::pair<Row, Row>> first;  // states of the layers of the decoder

 private:
  Row embedded(int32_t id) const {
    Row row = weights_.at("embedding.weight")[static_cast<size_t>(id)];
    for (double& value : row) {
      value *= std::sqrt(static_cast<double>(config_.d_model));
    }
    return row;
  }

  Cell step(const std::string& path, const Row& x, const Row& before, const Row& cell_before, const Row& fed_sums) {
    Cell c{weights_.map(x, path + ".input"),
           weights_.map(before, path + ".state"),
           fed_sums,
           {},
           before,
           Row(h_),
           cell_before,
           Row(h_)};
    const Row a = sum_of(c.input_sums, fed_sums), u = c.state_sums;
    const bool is_gru = config_.cell == CellKind::kGru;
    c.gates.resize(a.size());
    for (size_t i = 0; i < h_; ++i) {
      const auto gate = [&](size_t g) -> double& { return c.gates[g * h_ + i]; };
      const auto total = [&](size_t g) { return a[g * h_ + i] + u[g * h_ + i]; };
      gate(0) = sigmoid(total(0));
      gate(1) = sigmoid(total(1));
      if (is_gru) {
        gate(2) = std::tanh(a[2 * h_ + i] + gate(0) * u[2 * h_ + i]);
        c.state[i] = (1.0 - gate(1)) * gate(2) + gate(1) * before[i];
      } else {
        gate(2) = std::tanh(total(2));
        gate(3) = sigmoid(total(3));
        c.cell[i] = gate(1) * cell_before[i] + gate(0) * gate(2);
        c.state[i] = gate(3) * std::tanh(c.cell[i]);
      }
    }
    return c;
  }

  void encode(std::span<const int32_t> source) {
    Rows x;
    for (const int32_t id : source) {
      x.push_back(embedded(id));
    }
    const size_t n = x.size();
    for (int layer = 0; layer < config_.layers; ++layer) {
      const std::string path = fmt::format("encoder.layers.{}", layer);
      std::vector<Cell>&ahead = cells[path + ".forward"], &back = cells[path + ".backward"];
      ahead.resize(n);
      back.resize(n);
      for (size_t i = 0; i < n; ++i) {
        const size_t j = n - 1 - i;
        const Row zero(h_);
        ahead[i] =
            step(path + ".forward", x[i], i == 0 ? zero : ahead[i - 1].state, i == 0 ? zero : ahead[i - 1].cell, {});
        back[j] =
            step(path + ".backward", x[j], i == 0 ? zero : back[j + 1].state, i == 0 ? zero : back[j + 1].cell, {});
      }
      for (size_t i = 0; i < n; ++i) {
        x[i] = joined(ahead[i].state, back[i].state);
      }
      summary = joined(ahead.back().state, back.front().state);
    }
    encoded = x;
    if (weights_.has("decoder.attention.key.weight")) {
      for (const Row& row : encoded) {
        keys.push_back(weights_.linear(row, "decoder.attention.key.weight"));
      }
    }
  }

  // The context of a state, and what leads to it.
  Row attend(const Row& state) {
    const bool is_additive = config_.attention == RecurrentAttention::kBahdanau;
    const Row query = is_additive ? weights_.linear(state, "decoder.attention.query.weight") : state;
    Row score(keys.size());
    double total = 0.0;
    for (size_t j = 0; j < keys.size(); ++j) {
      for (size_t i = 0; i < query.size(); ++i) {
        score[j] += is_additive ? weights_.at("decoder.attention.score").front()[i] * std::tanh(query[i] + keys[j][i])
                                : query[i] * keys[j][i];
      }
      total += std::exp(score[j]);
    }
    Row weight(keys.size()), context(encoded.front().size());
    for (size_t j = 0; j < keys.size(); ++j) {
      weight[j] = std::exp(score[j]) / total;
      for (size_t i = 0; i < context.size(); ++i) {
        context[i] += weight[j] * encoded[j][i];
      }
    }
    queries.push_back(query);
    scores.push_back(score);
    attention.push_back(weight);
    contexts.push_back(context);
    return context;
  }

  void decode(std::span<const int32_t> input) {
    const auto layers = static_cast<size_t>(config_.layers);
    std::vector<std::pair<Row, Row>> state;
    for (size_t layer = 0; layer < layers; ++layer) {
      const std::string path = fmt::format("decoder.layers.{}", layer);
      const bool is_lstm = config_.cell == CellKind::kLstm;
      state.emplace_back(tanh_of(weights_.map(summary, path + ".initial_hidden")),
                         is_lstm ? tanh_of(weights_.map(summary, path + ".initial_cell")) : Row(h_));
    }
    first = state;
    Row fed(static_cast<size_t>(config_.d_model));  // of input feeding
    for (const int32_t id : input) {
      const Row words = embedded(id);
      Row x = words, context, first_output;
      for (size_t layer = 0; layer < layers; ++layer) {
        const std::string path = fmt::format("decoder.layers.{}", layer);
        auto& [hidden_state, cell_state] = state[layer];
        Row fed_sums;
        if (layer == 0 && config_.attention == RecurrentAttention::kBahdanau) {
          context = attend(hidden_state);
          fed_sums = weights_.linear(context, "decoder.fed.weight");
        } else if (layer == 0 && config_.input_feeding) {
          fed_sums = weights_.linear(fed, "decoder.fed.weight");
        }
        const Cell made = step(path, x, hidden_state, cell_state, fed_sums);
        cells[path].push_back(made);
        state[layer] = {made.state, made.cell};
        x = made.state;
        if (layer == 0 && config_.attention == RecurrentAttention::kBahdanau) {
          x = joined(x, context);
        } else if (layer == 0 && config_.input_feeding) {
          fed = tanh_of(weights_.map(joined(attend(x), x), "decoder.attention.combine"));
          x = fed;
        }
        first_output = layer == 0 ? x : first_output;
      }
      hidden.push_back(weights_.has("readout.top.weight") ? readout(x, first_output, words) : x);
      Row z;
      for (const Row& row : weights_.at("embedding.weight")) {
        z.push_back(std::inner_product(row.begin(), row.end(), hidden.back().begin(), 0.0));
      }
      logits.push_back(z);
    }
  }

  Row readout(const Row& top, const Row& first_output, const Row& words) {
    Row sum = weights_.map(top, "readout.top");
    const auto add = [&](const char* path, const Row& x) {
      sum = weights_.has(fmt::format("{}.weight", path)) ? sum_of(sum, weights_.map(x, path)) : sum;
    };
    add("readout.first", first_output);
    add("readout.words", words);
    if (weights_.has("readout.context.weight")) {
      add("readout.context", attend(top));
    }
    sums.push_back(sum);
    return tanh_of(sum);
  }

  const models::RecurrentConfig& config_;
  Weights weights_;
  size_t h_;
};

class RecurrentInspection : public testing::TestWithParam<RecurrentShape> {
 protected:
  const models::RecurrentConfig& config() const { return plain_->recurrent_config(); }
  bool is_lstm() const { return config().cell == CellKind::kLstm; }

  void expect_rows(const Rows& expected, const std::string& path, const char* name) const {
    expect_near(expected, inspection_.value(path, name), path + " " + name);
  }
  static void expect_near(const Rows& expected, const Tensor& shown, const std::string& what) {
    ASSERT_EQ(shown.shape(),
              (tensor::Shape{static_cast<int64_t>(expected.size()), static_cast<int64_t>(expected.front().size())}))
        << what;
    const tensor::HostRows<float> rows(shown);
    for (size_t row = 0; row < expected.size(); ++row) {
      for (size_t column = 0; column < expected[row].size(); ++column) {
        ASSERT_NEAR(rows[row][column], expected[row][column], 1e-4) << what << " [" << row << ", " << column << "]";
      }
    }
  }
  void expect_cells(const std::string& path, Row Cell::*part, const char* name) const {
    Rows rows;
    for (const Cell& cell : naive_.cells.at(path)) {
      rows.push_back(cell.*part);
    }
    expect_rows(rows, path, name);
  }

  std::shared_ptr<models::Recurrent> plain_ = tiny_recurrent(GetParam(), vocabulary().size());
  Translator translator_{tiny_recurrent(GetParam(), vocabulary().size()), vocabulary(), vocabulary()};
  Inspection inspection_{translator_, {.text = kText, .options = [] {
                                         SearchOptions options;
                                         options.execution.workers = 1;
                                         options.length.max_length_extra = 4;
                                         return options;
                                       }()}};
  Naive naive_{*plain_, inspection_.source(), inspection_.input()};
};

INSTANTIATE_TEST_SUITE_P(Shapes, RecurrentInspection, testing::ValuesIn(kRecurrentShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

TEST_P(RecurrentInspection, CellsOfEveryStepEqualLoopsOverTheWeights) {
  for (const auto& [path, steps] : naive_.cells) {
    expect_cells(path, &Cell::input_sums, "input_sums");
    expect_cells(path, &Cell::state_sums, "state_sums");
    expect_cells(path, &Cell::gates, "gates");
    expect_cells(path, &Cell::before, "before");
    expect_cells(path, &Cell::state, "state");
    EXPECT_EQ(inspection_.shows(path, "cell"), is_lstm());
    if (is_lstm()) {
      expect_cells(path, &Cell::cell_before, "cell_before");
      expect_cells(path, &Cell::cell, "cell");
    }
    const bool is_fed = path == "decoder.layers.0" && config().feeds();
    EXPECT_EQ(inspection_.shows(path, "fed_sums"), is_fed) << path;
    if (is_fed) {
      expect_cells(path, &Cell::fed_sums, "fed_sums");
    }
  }
}

TEST_P(RecurrentInspection, TheDecoderBeginsWithASummaryOfTheSource) {
  for (size_t layer = 0; layer < naive_.first.size(); ++layer) {
    const std::string path = fmt::format("decoder.layers.{}", layer);
    expect_rows({naive_.summary}, path, "summary");
    expect_rows({naive_.first[layer].first}, path, "first_state");
    EXPECT_EQ(inspection_.shows(path, "first_cell"), is_lstm());
    if (is_lstm()) {
      expect_rows({naive_.first[layer].second}, path, "first_cell");
    }
  }
}

TEST_P(RecurrentInspection, AttentionGoesFromScoresToContexts) {
  if (config().attention == RecurrentAttention::kNone) {
    EXPECT_TRUE(inspection_.attention_paths().empty());
    test_support::expect_error(base::ErrorKind::kUsage, {"decoder.attention is no attention of this model"},
                               [&] { inspect_head(inspection_, "decoder.attention", 0); });
    return;
  }
  EXPECT_THAT(inspection_.attention_paths(), testing::ElementsAre("decoder.attention"));
  const InspectedHead head = inspect_head(inspection_, "decoder.attention", 0);
  const bool is_additive = config().attention == RecurrentAttention::kBahdanau;
  EXPECT_EQ(head.rule, is_additive ? ScoreRule::kAdditive : ScoreRule::kProduct);
  EXPECT_EQ(head.score_weight.defined(), is_additive);
  EXPECT_FALSE(head.scaled.defined());
  EXPECT_FALSE(head.causal);
  expect_near(naive_.queries, head.query, "query");
  expect_near(naive_.keys, head.key, "key");
  expect_near(naive_.encoded, head.value, "value");
  expect_near(naive_.scores, head.scores, "scores");
  expect_near(naive_.attention, head.weights, "weights");
  expect_near(naive_.contexts, head.context, "context");
}

TEST_P(RecurrentInspection, TheReadoutGivesTheLogits) {
  expect_rows(naive_.hidden, "decoder", "output");
  EXPECT_EQ(inspection_.shows("readout", "sum"), !naive_.sums.empty());
  if (!naive_.sums.empty()) {
    expect_rows(naive_.sums, "readout", "sum");
  }
  expect_near(naive_.logits, inspection_.logits(0, static_cast<int64_t>(naive_.logits.size())), "logits");
  if (config().input_feeding) {
    Rows results;
    const Tensor joined = inspection_.value("decoder.attention", "joined");
    EXPECT_EQ(joined.dim(1), config().d_context() + config().d_hidden);
    const tensor::HostRows<float> sums(inspection_.value("decoder.attention", "sum"));
    for (size_t row = 0; row < naive_.contexts.size(); ++row) {
      results.push_back(tanh_of(Row(sums[row].begin(), sums[row].end())));
    }
    expect_rows(results, "decoder.attention", "result");
  }
}

TEST_P(RecurrentInspection, AnUnknownPathNamesThoseThatThereAre) {
  test_support::expect_error(base::ErrorKind::kUsage,
                             {"encoder.layers.9.forward shows no gates", "encoder.layers.0.forward, decoder.layers.0"},
                             [&] { inspection_.value("encoder.layers.9.forward", "gates"); });
}

}  // namespace
}  // namespace dragoman::decoding
