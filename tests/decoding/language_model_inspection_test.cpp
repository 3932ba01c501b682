// What the page shows of a language model: the numbers must be the model's own, and follow from each other by the
// formulas that its configuration names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "decoding/inspection/inspected_head.h"
#include "decoding/inspection/inspection.h"
#include "support/expect_error.h"
#include "tensor/transfer.h"
#include "tiny_language_model.h"

namespace dragoman::decoding {
namespace {

using tensor::Tensor;
using testing::HasSubstr;

const std::string kPrompt = "the red cat";

struct Shape {
  const char* name;
  void (*change)(models::DecoderOnlyConfig&);
};

// GPT-2, a Llama with all that its neighbours add, and a layer norm after the sum without biases.
const Shape kShapes[] = {{"gpt2", [](models::DecoderOnlyConfig&) {}},
                         {"llama",
                          [](models::DecoderOnlyConfig& config) {
                            config.layer.norm = kernels::NormKind::kRms;
                            config.layer.feed_forward = nn::FeedForwardKind::kGated;
                            config.layer.biases = nn::Biases::kNone;
                            config.layer.n_kv_heads = 2;
                            config.layer.qk_norm = true;
                            config.layer.window = 5;
                            config.positions = nn::PositionKind::kRotary;
                            config.activation = kernels::Activation::kSilu;
                          }},
                         {"narrow", [](models::DecoderOnlyConfig& config) { config.layer.d_key = 2; }},
                         {"post", [](models::DecoderOnlyConfig& config) {
                            config.norm_order = nn::NormOrder::kPost;
                            config.layer.biases = nn::Biases::kAttentionInput;
                            config.positions = nn::PositionKind::kSinusoidal;
                            config.tied_output = true;
                          }}};

std::shared_ptr<const models::Model> model_of(const Shape& shape) {
  models::DecoderOnlyConfig config = tiny_language_model()->decoder_config();
  config.n_heads = 4;
  shape.change(config);
  auto model = std::make_shared<models::DecoderOnly>(config);
  model->parameters().allocate();
  model->parameters().initialize(1);
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 2.0F;
  }
  model->parameters().pack_weights();
  return model;
}

InspectionRequest request_of(const std::string& text, int64_t max_tokens = 12) {
  InspectionRequest request{.text = text, .options = GenerationOptions::generation_search()};
  request.options.sampling = {};
  request.max_tokens = max_tokens;
  return request;
}

class LanguageModelInspection : public testing::TestWithParam<Shape> {
 protected:
  const models::DecoderOnlyConfig& config() const {
    return *generator_.model().config().get_if<models::DecoderOnlyConfig>();
  }
  bool is_llama() const { return config().layer.qk_norm; }
  int64_t key_width() const { return config().layer.d_key > 0 ? config().layer.d_key : 4; }

  Generator generator_{model_of(GetParam()), letters(), {.workers = 1}};
  Inspection inspection_{generator_, request_of(kPrompt)};
};

INSTANTIATE_TEST_SUITE_P(Shapes, LanguageModelInspection, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

template <typename Action>
void expect_usage_error(Action action, const std::vector<std::string>& parts) {
  test_support::expect_error(base::ErrorKind::kUsage, parts, action);
}

double at(const Tensor& matrix, int64_t row, int64_t column) {
  return static_cast<double>(tensor::HostView<float>(matrix)[static_cast<size_t>(row * matrix.dim(1) + column)]);
}

// Compares each number of a matrix with one that is computed.
template <typename Compute>
void expect_matrix(const Tensor& matrix, const char* what, Compute compute) {
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    for (int64_t column = 0; column < matrix.dim(1); ++column) {
      ASSERT_NEAR(at(matrix, row, column), compute(row, column), 1e-4) << what << " [" << row << ", " << column << "]";
    }
  }
}

TEST_P(LanguageModelInspection, IsOfThePromptAndItsContinuation) {
  GenerationOptions options;
  options.search = request_of(kPrompt).options;
  options.max_tokens = 12;
  const GenerationRequest request{.prompt = kPrompt};
  const Continuation continuation = generator_.generate({&request, 1}, options).front();
  EXPECT_TRUE(inspection_.continues_source());
  EXPECT_EQ(inspection_.source(), continuation.prompt_ids);
  std::vector<int32_t> text = continuation.prompt_ids;
  text.insert(text.end(), continuation.ids.begin(), continuation.ids.end());
  ASSERT_GE(inspection_.predicted().size() + 1, text.size());
  std::vector<int32_t> seen = {text.front()};
  seen.insert(seen.end(), inspection_.predicted().begin(), inspection_.predicted().end());
  seen.resize(text.size());
  EXPECT_EQ(seen, text) << "row t reads token t and predicts token t + 1";
  EXPECT_EQ(inspection_.input().size(), inspection_.predicted().size());
  EXPECT_EQ(inspection_.input().front(), text.front());
  EXPECT_EQ(inspection_.written(), continuation.text);
}

TEST_P(LanguageModelInspection, LogitsAreThoseOfTheModelTokenByToken) {
  const auto rows = static_cast<int64_t>(inspection_.input().size());
  const Tensor logits = inspection_.logits(0, rows);
  const auto generation = generator_.model().begin_generation();
  const std::span<const int32_t> first(inspection_.input().data(), 1);
  const int32_t slot = generation->add({&first, 1}).front();
  for (int64_t row = 0; row < rows; ++row) {
    const models::StepRow step{slot, 0, inspection_.input()[static_cast<size_t>(row)]};
    const autograd::Variable hidden = generation->step({&step, 1});
    const Tensor expected = generator_.model().output().logits(hidden).value();
    expect_matrix(expected, "logits", [&](int64_t, int64_t column) { return at(logits, row, column); });
  }
}

TEST_P(LanguageModelInspection, EveryHeadFollowsFromItsQueriesKeysAndValues) {
  ASSERT_EQ(inspection_.attention_paths(),
            (std::vector<std::string>{"layers.0.self_attention", "layers.1.self_attention"}));
  for (int64_t head = 0; head < 4; ++head) {
    const InspectedHead seen = inspect_head(inspection_, "layers.1.self_attention", head);
    ASSERT_EQ(seen.query.dim(1), key_width());
    ASSERT_EQ(seen.value.dim(1), 4);
    EXPECT_TRUE(seen.causal);
    EXPECT_EQ(seen.window, is_llama() ? 5 : 0);
    EXPECT_EQ(seen.key_head, is_llama() ? head / 2 : head);
    const auto sees = [&](int64_t row, int64_t column) {
      return column <= row && (seen.window == 0 || column > row - seen.window);
    };
    expect_matrix(seen.scaled, "scaled", [&](int64_t row, int64_t column) {
      return at(seen.scores, row, column) / std::sqrt(static_cast<double>(key_width()));
    });
    expect_matrix(seen.weights, "weights", [&](int64_t row, int64_t column) {
      double sum = 0.0;
      for (int64_t c = 0; c < seen.scaled.dim(1); ++c) {
        sum += sees(row, c) ? std::exp(at(seen.scaled, row, c)) : 0.0;
      }
      return sees(row, column) ? std::exp(at(seen.scaled, row, column)) / sum : 0.0;
    });
    expect_matrix(seen.context, "context", [&](int64_t row, int64_t column) {
      double sum = 0.0;
      for (int64_t c = 0; c < seen.value.dim(0); ++c) {
        sum += at(seen.weights, row, c) * at(seen.value, c, column);
      }
      return sum;
    });
  }
  expect_usage_error([&] { inspect_head(inspection_, "layers.0.self_attention", 4); }, {"head 4", "has 4"});
}

// RMSNorm on each head, then a turn of each pair by position times frequency.
TEST_P(LanguageModelInspection, QueriesAreTheProjectionsNormedAndRotated) {
  const InspectedHead seen = inspect_head(inspection_, "layers.0.self_attention", 1);
  EXPECT_EQ(seen.projected_query.defined(), is_llama());
  EXPECT_EQ(seen.rotation.defined(), is_llama());
  if (!is_llama()) {
    return;
  }
  const int64_t width = seen.query.dim(1), half = width / 2;
  expect_matrix(seen.rotation, "rotation", [&](int64_t row, int64_t column) {
    const double angle = static_cast<double>(row) * std::pow(1e4, -2.0 * static_cast<double>(column % half) / width);
    return column < half ? std::cos(angle) : std::sin(angle);
  });
  const auto normed = [&](const Tensor& x, int64_t row, int64_t column) {
    double squares = 0.0;
    for (int64_t c = 0; c < width; ++c) {
      squares += at(x, row, c) * at(x, row, c) / static_cast<double>(width);
    }
    return 2.0 * at(x, row, column) / std::sqrt(squares + config().layer_norm_epsilon);  // gains are 1, doubled
  };
  for (const auto& [before, after] : {std::pair(seen.projected_query, seen.query), {seen.projected_key, seen.key}}) {
    expect_matrix(after, "rotated", [&](int64_t row, int64_t column) {
      const int64_t pair = column % half;
      const double a = normed(before, row, pair), b = normed(before, row, half + pair);
      const double cosine = at(seen.rotation, row, pair), sine = at(seen.rotation, row, half + pair);
      return column < half ? a * cosine - b * sine : b * cosine + a * sine;
    });
  }
}

TEST_P(LanguageModelInspection, TheFeedForwardIsActivatedAndGated) {
  const char* path = "layers.0.feed_forward";
  const Tensor hidden = inspection_.value(path, "hidden"), active = inspection_.value(path, "active");
  ASSERT_EQ(inspection_.shows(path, "gate"), is_llama());
  const Tensor gate = is_llama() ? inspection_.value(path, "gate") : hidden;
  expect_matrix(active, "active", [&](int64_t row, int64_t column) {
    const double x = at(gate, row, column), cubic = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
    return is_llama() ? x / (1.0 + std::exp(-x)) * at(hidden, row, column) : 0.5 * x * (1.0 + std::tanh(cubic));
  });
}

TEST_P(LanguageModelInspection, SubLayersReadWhatTheOneBeforeWrote) {
  const auto value = [&](const char* path, const char* name) { return inspection_.value(path, name); };
  const char* chain[] = {"layers.0.self_attention", "layers.0.feed_forward", "layers.1.self_attention",
                         "layers.1.feed_forward"};
  const auto expect_same = [&](const Tensor& a, const Tensor& b) {
    expect_matrix(a, "input", [&](int64_t row, int64_t column) { return at(b, row, column); });
  };
  expect_same(value(chain[0], "input"), value("embedding", "sum"));
  for (size_t i = 0; i + 1 < std::size(chain); ++i) {
    expect_same(value(chain[i + 1], "input"), value(chain[i], "result"));
  }
  EXPECT_EQ(inspection_.shows("embedding", "positions"), !is_llama());
}

TEST_P(LanguageModelInspection, KnownTokensAreNotSearched) {
  InspectionRequest request = request_of(kPrompt);
  request.predicted = inspection_.predicted();
  const Inspection again(generator_, request);
  EXPECT_EQ(again.predicted(), inspection_.predicted());
  EXPECT_EQ(again.written(), inspection_.written());
  request.predicted[0] += 1;
  expect_usage_error([&] { Inspection(generator_, request); }, {"target_ids do not begin with the prompt"});
  request.predicted = {inspection_.source()[1]};
  expect_usage_error([&] { Inspection(generator_, request); }, {"target_ids do not begin with the prompt"});
}

TEST_P(LanguageModelInspection, HasLimits) {
  expect_usage_error([&] { Inspection(generator_, request_of(std::string(48, 'a'))); },
                     {"the text has 48 tokens, at most 47"});
  const InspectionLimits limits{.max_source_tokens = 20, .max_target_tokens = 30};
  expect_usage_error([&] { Inspection(generator_, request_of(std::string(21, 'a')), limits); }, {"at most 20"});
  EXPECT_LE(Inspection(generator_, request_of(kPrompt, 1000), limits).input().size(), 30U);
  EXPECT_LE(Inspection(generator_, request_of(kPrompt, 1000)).input().size(), 48U);
  EXPECT_EQ(Inspection(generator_, request_of(kPrompt, 1)).input().size(), kPrompt.size());
  expect_usage_error([&] { inspection_.value("encoder.layers.0.feed_forward", "hidden"); },
                     {"layers.0.self_attention, and this model has 2 layers"});
}

TEST_P(LanguageModelInspection, CanBeStopped) {
  std::stop_source source;
  source.request_stop();
  InspectionRequest request = request_of(kPrompt);
  request.cancel = source.get_token();
  EXPECT_THROW(Inspection(generator_, request), InspectionStopped);
  request.cancel = {};
  request.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_THROW(Inspection(generator_, request), InspectionStopped);
}

}  // namespace
}  // namespace dragoman::decoding
