// POST /v1/inspect of recurrent and convolutional models: the parts that /spec describes, and numbers that follow from
// each other by the formulas of docs/recurrent.md and docs/convolutional.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "aligned_translator.h"
#include "base/error.h"
#include "serving/inspect/inspect_reply.h"
#include "serving/routes/spec_document.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Rows = std::vector<std::vector<double>>;

json inspect(const decoding::Translator& translator, const json& parts) {
  InspectBody body = parse_inspect_body(json{{"text", "the red cat sleeps"}, {"parts", parts}}.dump());
  decoding::SearchOptions options;
  options.execution.workers = 1;
  options.length.max_length_extra = 3;
  body.complete(options);
  return json::parse(inspect_reply(translator, body));
}

json part(const decoding::Translator& translator, const json& wanted) {
  return inspect(translator, json::array({wanted}))["parts"][0];
}

Rows rows_of(const json& tensor) {
  const size_t width = tensor["shape"].back();
  Rows rows;
  for (size_t begin = 0; begin < tensor["values"].size(); begin += width) {
    rows.emplace_back();
    for (size_t i = 0; i < width; ++i) {
      rows.back().push_back(tensor["values"][begin + i]);
    }
  }
  return rows;
}

// left right, and a row of biases where there is one.
Rows product(const Rows& left, const Rows& right, const Rows& bias = {}) {
  Rows result;
  for (const auto& row : left) {
    result.push_back(bias.empty() ? std::vector<double>(right.front().size()) : bias.front());
    for (size_t i = 0; i < right.size(); ++i) {
      for (size_t j = 0; j < right[i].size(); ++j) {
        result.back()[j] += row.at(i) * right[i][j];
      }
    }
  }
  return result;
}

void expect_near(const Rows& made, const Rows& shown, const std::string& what) {
  ASSERT_EQ(made.size(), shown.size()) << what;
  for (size_t row = 0; row < made.size(); ++row) {
    ASSERT_EQ(made[row].size(), shown[row].size()) << what;
    for (size_t column = 0; column < made[row].size(); ++column) {
      ASSERT_NEAR(made[row][column], shown[row][column], 1e-4) << what << " [" << row << ", " << column << "]";
    }
  }
}

// Whether a part has the keys that /spec says, and no others.
void expect_described(const json& shown) {
  static const json spec = json::parse(spec_document());
  for (const json& described : spec["components"]["schemas"]["Inspected"]["properties"]["parts"]["items"]["oneOf"]) {
    if (described["properties"]["part"]["enum"][0] != shown["part"]) {
      continue;
    }
    for (const auto& [key, value] : shown.items()) {
      EXPECT_TRUE(described["properties"].contains(key)) << shown["part"] << " has " << key;
    }
    for (const json& key : described["required"]) {
      EXPECT_TRUE(shown.contains(key.get<std::string>())) << shown["part"] << " lacks " << key;
    }
    return;
  }
  ADD_FAILURE() << "/spec does not describe " << shown["part"];
}

class InspectRecurrent : public testing::TestWithParam<decoding::RecurrentShape> {
 protected:
  const decoding::RecurrentShape& shape() const { return GetParam(); }
  bool attends() const { return shape().attention != models::RecurrentAttention::kNone; }
  json ask(const json& wanted) const { return part(translator_, wanted); }
  Rows parameter(const std::string& path) const {
    return rows_of(ask({{"part", "parameter"}, {"path", path}})["parameter"]);
  }
  std::vector<std::string> layers() const {
    std::vector<std::string> paths;
    for (int layer = 0; layer < shape().layers; ++layer) {
      paths.push_back(fmt::format("encoder.layers.{}.forward", layer));
      paths.push_back(fmt::format("encoder.layers.{}.backward", layer));
      paths.push_back(fmt::format("decoder.layers.{}", layer));
    }
    return paths;
  }

  decoding::Translator translator_ = translator_of(decoding::tiny_recurrent(GetParam(), decoding::vocabulary().size()));
};
INSTANTIATE_TEST_SUITE_P(Shapes, InspectRecurrent, testing::ValuesIn(decoding::kRecurrentShapes),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(InspectRecurrent, SaysTheShapeOfTheModel) {
  const json answer = inspect(translator_, {{{"part", "weights"}}});
  EXPECT_EQ(answer["model"]["architecture"], "recurrent");
  EXPECT_EQ(answer["model"]["layers"], shape().layers);
  EXPECT_EQ(answer["model"]["decoder_layers"], shape().layers);
  EXPECT_EQ(answer["model"]["d_context"], 20);
  EXPECT_EQ(answer["model"]["precision"], "float32");
  EXPECT_FALSE(answer["model"].contains("dropout"));
  EXPECT_EQ(answer["parts"][0]["attentions"].size(), attends() ? 1U : 0U);
}

TEST_P(InspectRecurrent, SumsFollowFromWhatStandsBesideThem) {
  for (const std::string& path : layers()) {
    const json sums = ask({{"part", "cell_sums"}, {"path", path}}), cell = ask({{"part", "cell"}, {"path", path}});
    expect_described(sums);
    expect_described(cell);
    expect_near(product(rows_of(sums["read"]), parameter(path + ".input.weight"), parameter(path + ".input.bias")),
                rows_of(sums["input_sums"]), path + " input");
    expect_near(product(rows_of(cell["before"]), parameter(path + ".state.weight"), parameter(path + ".state.bias")),
                rows_of(sums["state_sums"]), path + " state");
    if (sums.contains("fed_sums")) {
      expect_near(product(rows_of(sums["fed"]), parameter("decoder.fed.weight")), rows_of(sums["fed_sums"]), path);
    }
    const json some = ask({{"part", "cell_sums"}, {"path", path}, {"columns", {3, 5}}});
    EXPECT_EQ(some["input_sums"]["shape"][1], 2);
    EXPECT_EQ(some["state_sums"]["values"][1], sums["state_sums"]["values"][4]);
  }
}

TEST_P(InspectRecurrent, TheFirstStateFollowsFromTheSummary) {
  for (int layer = 0; layer < shape().layers; ++layer) {
    const std::string path = fmt::format("decoder.layers.{}", layer);
    const json first = ask({{"part", "first_state"}, {"path", path}});
    expect_described(first);
    expect_near(product(rows_of(first["summary"]), parameter(path + ".initial_hidden.weight"),
                        parameter(path + ".initial_hidden.bias")),
                rows_of(first["first_state_sums"]), path);
  }
}

TEST_P(InspectRecurrent, TheRowsOfTheOutputLayerFollow) {
  if (shape().input_feeding) {
    const json vector = ask({{"part", "attentional"}, {"path", "decoder.attention"}});
    expect_described(vector);
    expect_near(product(rows_of(vector["joined"]), parameter("decoder.attention.combine.weight"),
                        parameter("decoder.attention.combine.bias")),
                rows_of(vector["sum"]), "attentional vector");
  }
  if (shape().input_feeding && shape().layers == 1) {
    return;  // what is read out is that vector
  }
  const json readout = ask({{"part", "readout"}, {"path", "readout"}});
  expect_described(readout);
  Rows sum;
  for (const char* name : {"top", "first", "words", "context"}) {
    if (!readout.contains(name)) {
      continue;
    }
    const Rows bias = name == std::string_view("top") ? parameter("readout.top.bias") : Rows();
    const Rows made = product(rows_of(readout[name]), parameter(fmt::format("readout.{}.weight", name)), bias);
    expect_near(made, rows_of(readout[fmt::format("from_{}", name)]), name);
    for (size_t row = 0; row < made.size(); ++row) {
      sum.resize(made.size(), std::vector<double>(made[row].size()));
      std::ranges::transform(made[row], sum[row], sum[row].begin(), std::plus<>());
    }
  }
  expect_near(sum, rows_of(readout["sum"]), "sum");
}

TEST_P(InspectRecurrent, AnAttentionIsAHead) {
  const json wanted = {{"part", "head"}, {"path", "decoder.attention"}, {"head", 0}};
  if (!attends()) {
    EXPECT_THROW(ask(wanted), base::Error);
    return;
  }
  const json head = ask(wanted);
  expect_described(head);
  const bool is_additive = shape().attention == models::RecurrentAttention::kBahdanau;
  EXPECT_EQ(head["rule"], is_additive ? "additive" : "product");
  EXPECT_EQ(head.contains("score_weight"), is_additive);
  EXPECT_FALSE(head.contains("scaled"));
  expect_near(product(rows_of(head["weights"]), rows_of(head["value"])), rows_of(head["context"]), "context");
}

TEST_P(InspectRecurrent, WrongColumnsAndPathsAreRefused) {
  const json wanted = {{"part", "cell_sums"}, {"path", "decoder.layers.0"}, {"columns", {0, 999}}};
  try {
    ask(wanted);
    ADD_FAILURE() << "columns that there are not were taken";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("columns 0 to 999, but the sums of decoder.layers.0 have"));
  }
  EXPECT_THROW(ask({{"part", "residual"}, {"path", "decoder.layers.0"}}), base::Error);
}

// sqrt(1/2) (left + right)
Rows half_sum(const Rows& left, const Rows& right) {
  Rows result = left;
  for (size_t row = 0; row < left.size(); ++row) {
    for (size_t column = 0; column < left[row].size(); ++column) {
      result[row][column] = std::sqrt(0.5) * (left[row][column] + right.at(row).at(column));
    }
  }
  return result;
}

// x W + b with the parameters at `path`.
Rows mapped(const decoding::Translator& translator, const std::string& path, const Rows& x) {
  const auto parameter = [&](const char* name) {
    return rows_of(part(translator, {{"part", "parameter"}, {"path", path + name}})["parameter"]);
  };
  return product(x, parameter(".weight"), parameter(".bias"));
}

TEST(InspectConvolutional, LayersAndAttentionsFollowFromWhatStandsBesideThem) {
  const decoding::Translator translator = translator_of(decoding::tiny_convolutional(decoding::vocabulary().size()));
  for (const char* path : {"encoder.layers.0", "encoder.layers.1", "decoder.layers.0", "decoder.layers.1"}) {
    const json layer = part(translator, {{"part", "convolution"}, {"path", path}});
    expect_described(layer);
    const bool in_decoder = layer.contains("attended");
    EXPECT_EQ(in_decoder, path[0] == 'd');
    const Rows value = rows_of(layer["value"]), gate = rows_of(layer["gate"]), input = rows_of(layer["input"]);
    const Rows found = rows_of(layer[in_decoder ? "attended" : "gated"]);
    Rows gated = value, result = input;
    for (size_t row = 0; row < value.size(); ++row) {
      for (size_t column = 0; column < value[row].size(); ++column) {
        gated[row][column] /= 1.0 + std::exp(-gate[row][column]);
        result[row][column] = std::sqrt(0.5) * (found[row][column] + input[row][column]);
      }
    }
    expect_near(gated, rows_of(layer["gated"]), std::string(path) + " gated");
    expect_near(result, rows_of(layer["result"]), std::string(path) + " result");
  }
  const Rows words = rows_of(part(translator, {{"part", "embedding"}, {"path", "decoder.embedding"}})["sum"]);
  for (const char* path : {"decoder.layers.0", "decoder.layers.1"}) {
    const std::string attention = std::string(path) + ".attention";
    const json head = part(translator, {{"part", "head"}, {"path", attention}, {"head", 0}});
    expect_described(head);
    EXPECT_EQ(head["rule"], "product");
    expect_near(product(rows_of(head["weights"]), rows_of(head["value"])), rows_of(head["context"]), attention);
    const json layer = part(translator, {{"part", "convolution"}, {"path", path}});
    expect_near(mapped(translator, attention + ".query", rows_of(layer["gated"])), rows_of(layer["query_map"]), path);
    expect_near(mapped(translator, attention + ".context", rows_of(head["context"])), rows_of(layer["context_map"]),
                path);
    expect_near(half_sum(rows_of(layer["query_map"]), words), rows_of(head["query"]), attention + " query");
    expect_near(half_sum(rows_of(layer["gated"]), rows_of(layer["context_map"])), rows_of(layer["attended"]), path);
  }
}

}  // namespace
}  // namespace dragoman::serving
