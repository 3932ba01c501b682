// POST /v1/inspect and GET /v1/model as functions of a request: a random model, no connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"
#include "decoding/tiny_encoder.h"
#include "decoding/tiny_language_model.h"
#include "recorded_exchange.h"
#include "served_tiny_model.h"
#include "serving/inspect/inspect_reply.h"
#include "serving/inspect/json_numbers.h"
#include "serving/page/page_assets.h"
#include "serving/routes/inspect_routes.h"
#include "serving/routes/spec_document.h"
#include "serving/service/model_card.h"
#include "serving/service/work_queue.h"
#include "support/tiny_config.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kText = "the red cat sleeps";

class Inspect : public testing::Test {
 protected:
  Inspect() { add_inspect_routes(router_, context_, queue_); }

  Reply ask(const Request& request) {
    const auto exchange = std::make_shared<RecordedExchange>(request);
    router_.handle(exchange);
    return exchange->answer();
  }
  json inspect(const json& body, int status = 200) {
    const Reply reply = ask(post_json("/v1/inspect", body));
    EXPECT_EQ(reply.status, status) << body << "\n" << reply.body.substr(0, 300);
    return json::parse(reply.body);
  }
  json part(const json& wanted) { return inspect({{"text", kText}, {"parts", {wanted}}})["parts"][0]; }
  void expect_refused(const json& body, const std::string& text) {
    EXPECT_THAT(inspect(body, 400)["error"].get<std::string>(), HasSubstr(text)) << body;
  }

  Current<const ServedModels> models_{served_tiny_models({{"en", "de"}, {"de", "en"}})};
  Current<ApiKeys> keys_{nullptr};
  TranslationService service_{1, 2048, std::chrono::seconds(5)};
  Metrics metrics_;
  ServingContext context_{.models = models_, .keys = keys_, .service = service_, .metrics = metrics_, .limits = {}};
  Router router_;
  WorkQueue queue_{kMostInspections};
};

TEST_F(Inspect, GivesTheSentenceItsTranslationAndTheShapeOfTheModel) {
  const json answer = inspect({{"text", kText}, {"source", "en"}, {"target", "de"}});
  const ServedModel& served = models_.get()->all().front();
  EXPECT_EQ(answer["target"]["text"], served.translator->translate({&kText, 1}, served.search).front().text);
  EXPECT_EQ(answer["model"]["d_model"], 32);
  EXPECT_EQ(answer["source"]["ids"].size(), answer["source"]["pieces"].size());
  EXPECT_EQ(answer["target"]["input_pieces"][0], "<s>");
  EXPECT_TRUE(answer["parts"].empty());
}

TEST_F(Inspect, EveryPartSaysItsShape) {
  const int64_t s = static_cast<int64_t>(inspect({{"text", kText}})["source"]["ids"].size());
  const int64_t t = static_cast<int64_t>(inspect({{"text", kText}})["target"]["ids"].size());
  const json head = part({{"part", "head"}, {"path", "decoder.layers.1.cross_attention"}, {"head", 3}});
  EXPECT_EQ(head["query"]["shape"], json({t, 8}));
  EXPECT_EQ(head["key"]["shape"], json({s, 8}));
  EXPECT_EQ(head["weights"]["shape"], json({t, s}));
  EXPECT_EQ(head["weights"]["values"].size(), static_cast<size_t>(t * s));
  EXPECT_EQ(part({{"part", "weights"}})["attentions"].size(), 6U);
  EXPECT_EQ(part({{"part", "embedding"}, {"path", "encoder.embedding"}})["sum"]["shape"], json({s, 32}));
  EXPECT_EQ(part({{"part", "residual"}, {"path", "encoder.layers.0.feed_forward"}})["change"]["shape"], json({s, 32}));
  EXPECT_EQ(part({{"part", "feed_forward"}, {"path", "decoder.layers.0.feed_forward"}})["active"]["shape"],
            json({t, 64}));
  EXPECT_EQ(part({{"part", "output"}, {"path", "encoder"}})["output"]["shape"], json({s, 32}));
  EXPECT_EQ(part({{"part", "candidates"}, {"count", 5}})["steps"].size(), static_cast<size_t>(t));
}

// [rows, columns] of left times [columns, n] of right, plus a bias for each column.
std::vector<double> product(const json& left, const json& right, const json& bias) {
  const size_t rows = left["shape"][0], inner = left["shape"][1], columns = right["shape"][1];
  std::vector<double> result;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      double sum = bias["values"][c];
      for (size_t i = 0; i < inner; ++i) {
        sum += left["values"][r * inner + i].get<double>() * right["values"][i * columns + c].get<double>();
      }
      result.push_back(sum);
    }
  }
  return result;
}

// What the page shows as X W + b must be what stands beside it.
TEST_F(Inspect, ParametersGiveTheProjectionsOfAllHeads) {
  const std::string path = "decoder.layers.1.cross_attention";
  const json attention = part({{"part", "attention"}, {"path", path}});
  const json residual = part({{"part", "residual"}, {"path", path}});
  const auto expect_product = [&](const json& left, const std::string& name, const json& expected) {
    const std::vector<double> made =
        product(left, part({{"part", "parameter"}, {"path", path + name + ".weight"}})["parameter"],
                part({{"part", "parameter"}, {"path", path + name + ".bias"}})["parameter"]);
    ASSERT_EQ(made.size(), expected["values"].size());
    for (size_t i = 0; i < made.size(); ++i) {
      ASSERT_NEAR(made[i], expected["values"][i].get<double>(), 1e-4) << name << ", number " << i;
    }
  };
  expect_product(residual["read"], ".query", attention["query"]);
  expect_product(part({{"part", "output"}, {"path", "encoder"}})["output"], ".key", attention["key"]);
  expect_product(attention["context"], ".output", residual["change"]);
}

TEST_F(Inspect, APartOfAParameterIsItsRowsAndColumns) {
  const std::string path = "encoder.layers.0.feed_forward.inner.weight";
  const json whole = part({{"part", "parameter"}, {"path", path}})["parameter"];
  const json some = part({{"part", "parameter"}, {"path", path}, {"rows", {5, 2}}, {"columns", {10, 13}}})["parameter"];
  EXPECT_EQ(some["shape"], json({2, 3}));
  EXPECT_EQ(some["values"][4], whole["values"][2 * 64 + 11]);
  const json ids = inspect({{"text", kText}})["source"]["ids"];
  const json table = part({{"part", "parameter"}, {"path", "source_embedding.weight"}, {"rows", ids}})["parameter"];
  const json words = part({{"part", "embedding"}, {"path", "encoder.embedding"}})["words"];
  for (size_t i = 0; i < words["values"].size(); ++i) {
    ASSERT_NEAR(table["values"][i].get<double>() * std::sqrt(32.0), words["values"][i].get<double>(), 1e-4) << i;
  }
  expect_refused({{"text", kText}, {"parts", {{{"part", "parameter"}, {"path", "x"}}}}}, "x is no parameter");
  expect_refused({{"text", kText}, {"parts", {{{"part", "parameter"}, {"path", path}, {"rows", {99}}}}}},
                 "rows[0] is 99, but " + path + " has 32 rows");
  expect_refused({{"text", kText}, {"parts", {{{"part", "parameter"}, {"path", path}, {"columns", {60, 70}}}}}},
                 "columns 60 to 70, but " + path + " has 64");
}

TEST_F(Inspect, AStepsLogitsGiveItsCandidates) {
  const json logits = part({{"part", "logits"}, {"step", 1}});
  const json step = part({{"part", "candidates"}, {"count", 4}})["steps"][1];
  double sum = 0.0;
  for (const double logit : logits["logits"]["values"]) {
    sum += std::exp(logit);
  }
  EXPECT_NEAR(std::log(sum), logits["log_sum_exp"].get<double>(), 1e-4);
  for (size_t i = 0; i < 4; ++i) {
    const double logit = logits["logits"]["values"][step["ids"][i].get<size_t>()];
    EXPECT_EQ(logit, step["logits"][i].get<double>()) << "candidate " << i;
    EXPECT_NEAR(std::exp(logit) / sum, step["probabilities"][i].get<double>(), 1e-5) << "candidate " << i;
  }
}

TEST_F(Inspect, TargetIdsAreFollowedWithoutASearch) {
  const json answer = inspect({{"text", kText}, {"target_ids", {7, 9, 3}}, {"parts", {{{"part", "candidates"}}}}});
  EXPECT_EQ(answer["target"]["ids"], json({7, 9, 3}));
  EXPECT_EQ(answer["target"]["input_ids"], json({2, 7, 9}));
  EXPECT_EQ(answer["parts"][0]["steps"][1]["chosen_id"], 9);
}

TEST_F(Inspect, TheBeamIsAsWideAsAsked) {
  const json tree = inspect({{"text", kText}, {"beam_size", 2}, {"parts", {{{"part", "beam"}}}}})["parts"][0];
  EXPECT_EQ(tree["beam_size"], 2);
  std::map<int, int> kept;
  for (const json& node : tree["nodes"]) {
    EXPECT_LE(++kept[node["step"].get<int>()], 2);
  }
  EXPECT_FALSE(tree["finished"].empty());
}

TEST_F(Inspect, RefusalsAreSentences) {
  expect_refused({{"text", " "}}, "blank");
  expect_refused({{"text", kText}, {"sentence", 1}}, "unknown key \"sentence\"");
  expect_refused({{"text", 5}}, "text must be a string");
  expect_refused({{"text", kText}, {"beam_size", 17}}, "beam_size must be an integer from 1 to 16, is 17");
  expect_refused({{"text", kText}, {"alpha", 99}}, "alpha is 99");
  expect_refused({{"text", kText}, {"target_ids", {-1}}}, "target_ids[0] must be a token id");
  expect_refused({{"text", kText}, {"target_ids", {60000}}}, "target_ids[0] is 60000, must be in [0, ");
  expect_refused({{"text", kText}, {"parts", {1}}}, "parts[0] must be a JSON object");
  expect_refused({{"text", kText}, {"parts", {{{"part", "heads"}}}}},
                 "parts[0].part is \"heads\"; known: attention, attentional, beam, ");
  expect_refused({{"text", kText}, {"parts", {{{"part", "head"}, {"path", "x"}}}}}, "x is no attention of this model");
  expect_refused({{"text", kText}, {"parts", {{{"part", "logits"}, {"step", 5000}}}}}, "step 5000");
  expect_refused({{"text", kText}, {"parts", json::array_t(65, {{"part", "beam"}})}}, "65 parts, at most 64");
  std::string words;
  for (int i = 0; i < 200; ++i) {
    words += "cat ";
  }
  expect_refused({{"text", words}}, "can be looked into");
  EXPECT_EQ(ask(post("/v1/inspect", "application/json", "{")).status, 400);
  EXPECT_EQ(ask(post("/v1/inspect", "application/json", "[]")).status, 400);
  EXPECT_EQ(ask(post("/v1/inspect", "application/json", "\xEF\xBB\xBF{\"text\": \"the cat\"}")).status, 200)
      << "a byte order mark is no text";
  EXPECT_EQ(inspect({{"text", kText}, {"source", "fr"}, {"target", "de"}}, 404)["error"],
            "no model from \"fr\" to \"de\" is served");
}

TEST_F(Inspect, AReplyIsBounded) {
  const ServedModel& served = models_.get()->all().front();
  InspectBody request = parse_inspect_body(json({{"text", kText}, {"parts", {{{"part", "weights"}}}}}).dump());
  request.complete(served.search);
  try {
    static_cast<void>(inspect_reply(*served.translator, request, {.sentence = {}, .max_numbers = 100}));
    FAIL() << "expected an Error, a reply was made";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("more than 100 numbers; ask for fewer"));
  }
}

TEST_F(Inspect, EndsWhenNobodyWaitsForItAnyMore) {
  const ServedModel& served = models_.get()->all().front();
  // A beam tree is searched for each part: some seconds of work.
  const json body = {{"text", kText}, {"beam_size", 16}, {"parts", json::array_t(64, {{"part", "beam"}})}};
  InspectBody request = parse_inspect_body(body.dump());
  request.complete(served.search);
  std::stop_source stop;
  request.inspection.cancel = stop.get_token();
  const auto whole = std::chrono::steady_clock::now();
  static_cast<void>(inspect_reply(*served.translator, request));
  const auto undisturbed = std::chrono::steady_clock::now() - whole;
  std::thread leaving([&] {
    std::this_thread::sleep_for(undisturbed / 16);  // a moment within the work, which has no visible progress
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(inspect_reply(*served.translator, request), decoding::InspectionStopped);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, undisturbed / 2);
  leaving.join();
}

TEST_F(Inspect, TakesAsLongAsARequestMayAndNoLonger) {
  context_.request_time = std::chrono::milliseconds(0);
  EXPECT_EQ(inspect({{"text", kText}}, 504)["error"], "the inspection took too long");
  context_.request_time = std::chrono::seconds(30);
  inspect({{"text", kText}});
}

TEST_F(Inspect, TooManyAreRefusedAndThoseWhoseClientLeftKeepNoPlace) {
  std::promise<void> go, begun;
  queue_.submit({}, [&] {
    begun.set_value();
    go.get_future().wait();
  });
  begun.get_future().wait();
  std::vector<std::shared_ptr<RecordedExchange>> waiting;
  const Request request = post_json("/v1/inspect", {{"text", kText}});
  for (size_t i = 0; i < kMostInspections; ++i) {
    waiting.push_back(std::make_shared<RecordedExchange>(request));
    router_.handle(waiting.back());
  }
  const Reply refused = ask(request);
  EXPECT_EQ(refused.status, 503);
  ASSERT_EQ(refused.headers.size(), 1U);
  EXPECT_EQ(refused.headers[0].name, "Retry-After");
  waiting.front()->cancel();
  const auto late = std::make_shared<RecordedExchange>(request);
  router_.handle(late);
  EXPECT_EQ(late->answers(), 0U) << "there is a place again: " << late->answer().body;
  go.set_value();
  EXPECT_EQ(late->answer().status, 200);
  for (size_t i = 1; i < kMostInspections; ++i) {
    EXPECT_EQ(waiting[i]->answer().status, 200) << i;
  }
}

TEST_F(Inspect, NumbersKeepSixDigits) {
  EXPECT_EQ(rounded(1.0 / 3.0).dump(), "0.333333");
  EXPECT_EQ(rounded(123456789.0).dump(), "123457000.0");
  EXPECT_EQ(rounded(-0.0).dump(), "0.0");
  EXPECT_TRUE(rounded(NAN).is_null());
  EXPECT_TRUE(rounded(-INFINITY).is_null());
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) {
    keys.insert(key);
  }
  return keys;
}

TEST_F(Inspect, TheCardCountsEveryParameterOnce) {
  const ServedModel& served = models_.get()->all().front();
  report::MetricsHistory history;
  for (int step = 0; step < 1000; ++step) {
    history.train.push_back({.step = step, .loss = 1.0 / (1 + step), .seconds = 0.5 * step});
  }
  history.validation.push_back(
      {.step = 1000, .loss = NAN, .perplexity = 2.0, .bleu = 30.0, .chrf = 50.0, .is_best = true, .seconds = 500.0});
  const json card = json::parse(model_card("a <b>", *served.translator, {history, {"A sentence."}}));
  int64_t sum = 0;
  for (const json& entry : card["parameters"]["parts"]) {
    sum += entry["count"].get<int64_t>();
  }
  EXPECT_EQ(sum, card["parameters"]["total"].get<int64_t>());
  EXPECT_EQ(card["name"], "a <b>");
  EXPECT_EQ(card["training"]["train"].size(), 400U);
  EXPECT_EQ(card["training"]["train"].back()["step"], 999);
  EXPECT_TRUE(card["training"]["validation"][0]["loss"].is_null());
  EXPECT_EQ(card["examples"], json::array({"A sentence."}));
  json described = json::parse(spec_document())["components"]["schemas"]["ModelCard"]["properties"];
  described.erase("labels");  // of encoders alone
  EXPECT_EQ(keys_of(card), keys_of(described)) << "what /spec says of it";
  EXPECT_EQ(ask(get("/v1/model", "source=de&target=en")).status, 200);
  EXPECT_EQ(ask(get("/v1/model", "source=de&target=fr")).status, 404);
}

// Language models: the prompt and its continuation in place of a sentence and its translation.
class InspectLanguageModel : public Inspect {
 protected:
  InspectLanguageModel() {
    const auto generator = std::make_shared<const decoding::Generator>(
        decoding::tiny_language_model(), decoding::letters(), decoding::ServiceThreads{.workers = 1});
    std::vector<ServedLanguageModel> alone = {{.id = "tiny", .folder = "tiny", .sha256 = "0", .generator = generator}};
    alone.front().card = model_card("tiny", *generator, {{}, {"the cat"}});
    models_.set(std::make_shared<ServedModels>(std::vector<ServedModel>(), std::move(alone)));
  }
  json part_of(const json& wanted) { return inspect({{"text", "the cat"}, {"parts", {wanted}}})["parts"][0]; }
};

TEST_F(InspectLanguageModel, RowsReadThePromptAndItsContinuation) {
  const json answer = inspect({{"model", "tiny"}, {"text", "the cat"}, {"max_tokens", 5}});
  EXPECT_EQ(answer["model"]["encoder_layers"], 0);
  EXPECT_EQ(answer["model"]["decoder_layers"], 2);
  EXPECT_EQ(answer["source"]["pieces"], json({"t", "h", "e", " ", "c", "a", "t"}));
  const json target = answer["target"];
  ASSERT_EQ(target["ids"].size(), target["input_ids"].size());
  for (size_t row = 0; row + 1 < target["ids"].size(); ++row) {
    EXPECT_EQ(target["ids"][row], target["input_ids"][row + 1]) << row;
  }
  const auto& generator = *models_.get()->language_models().front().generator;
  decoding::GenerationOptions options;
  options.max_tokens = 5;
  options.search.sampling = {.temperature = 0.7, .top_k = 9, .seed = 3};
  const decoding::GenerationRequest request{.prompt = "the cat"};
  const json drawn = inspect({{"text", "the cat"}, {"max_tokens", 5}, {"temperature", 0.7}, {"top_k", 9}, {"seed", 3}});
  EXPECT_EQ(drawn["target"]["text"], generator.generate({&request, 1}, options).front().text);
  EXPECT_EQ(inspect({{"text", "the cat"}, {"target_ids", target["ids"]}})["target"], target) << "nothing is searched";
}

TEST_F(InspectLanguageModel, PartsHaveThePathsOfOneStack) {
  const size_t rows = inspect({{"text", "the cat"}})["target"]["ids"].size();
  const json head = part_of({{"part", "head"}, {"path", "layers.1.self_attention"}, {"head", 1}});
  EXPECT_EQ(head["weights"]["shape"], json({rows, rows}));
  EXPECT_EQ(head["causal"], true);
  EXPECT_FALSE(head.contains("rotation")) << "its positions are learned";
  EXPECT_EQ(part_of({{"part", "weights"}})["attentions"].size(), 2U);
  EXPECT_EQ(part_of({{"part", "embedding"}, {"path", "embedding"}})["positions"]["shape"], json({rows, 16}));
  EXPECT_FALSE(part_of({{"part", "feed_forward"}, {"path", "layers.0.feed_forward"}}).contains("gate"));
  EXPECT_EQ(part_of({{"part", "output"}, {"path", "decoder"}})["output"]["shape"], json({rows, 16}));
  EXPECT_EQ(part_of({{"part", "candidates"}, {"count", 3}})["steps"].size(), rows);
}

TEST_F(InspectLanguageModel, RefusesWhatDoesNotBelongToIt) {
  const json prompt = {{"text", "the cat"}};
  const auto with = [&](const json& more) {
    json body = prompt;
    body.update(more);
    return body;
  };
  expect_refused(with({{"beam_size", 4}}), "beam_size is for models that translate");
  expect_refused(with({{"parts", {{{"part", "beam"}}}}}), "there is no beam");
  expect_refused(with({{"temperature", -1}}), "temperature is -1, must be 0 to 100");
  expect_refused(with({{"text", std::string(48, 'a')}}), "at most 47 can be looked into");
  expect_refused(with({{"text", "\u4e2d"}}), "U+4E2D");
  expect_refused(with({{"target_ids", {1, 2}}}), "target_ids do not begin with the prompt");
  inspect(with({{"beam_size", nullptr}}));
  inspect(with({{"model", "other"}}), 404);
  inspect(with({{"source", "en"}, {"target", "de"}}), 404);
  EXPECT_EQ(ask(get("/v1/model", "model=tiny")).status, 200);
  EXPECT_EQ(ask(get("/v1/model", "model=other")).status, 404);
  const json card = json::parse(ask(get("/v1/model")).body);
  EXPECT_EQ(card["examples"], json({"the cat"}));
  EXPECT_EQ(card["parameters"]["parts"][1]["path"], "layers.0");
  EXPECT_FALSE(card.contains("search"));
}

TEST_F(Inspect, KeysOfLanguageModelsAreRefusedElsewhere) {
  expect_refused({{"text", kText}, {"temperature", 1}}, "temperature is for language models");
  inspect({{"text", kText}, {"model", "tiny"}}, 404);
}

// softmax(scaled + bias) is what the model weighs with, whether it scales its products and whatever positions it has.
TEST(InspectHead, ScoresGiveTheWeights) {
  for (const bool scales : {true, false}) {
    for (const auto positions : {nn::PositionKind::kSinusoidal, nn::PositionKind::kRelative}) {
      models::TransformerConfig config = test_support::tiny_config(decoding::vocabulary().size());
      config.layer.scale_attention = scales;
      config.positions = positions;
      auto model = std::make_shared<models::Transformer>(config);
      model->parameters().allocate();
      model->parameters().initialize(1);
      model->parameters().pack_weights();
      const decoding::Translator translator(model, decoding::vocabulary(), decoding::vocabulary(),
                                            decoding::TranslatorSetup{.threads = {.workers = 1}});
      for (const char* path : {"encoder.layers.0.self_attention", "decoder.layers.1.self_attention"}) {
        const json body = {
            {"text", kText}, {"beam_size", 1}, {"parts", {{{"part", "head"}, {"path", path}, {"head", 1}}}}};
        const json part = json::parse(inspect_reply(translator, parse_inspect_body(body.dump()), {}))["parts"][0];
        EXPECT_EQ(part.contains("bias"), positions == nn::PositionKind::kRelative);
        EXPECT_EQ(part["scale"] == 1.0, !scales);
        const size_t rows = part["weights"]["shape"][0], columns = part["weights"]["shape"][1];
        const auto at = [&](const char* name, size_t i) { return part[name]["values"][i].get<double>(); };
        for (size_t r = 0; r < rows; ++r) {
          const size_t seen = part["causal"] ? r + 1 : columns;
          double sum = 0.0;
          std::vector<double> powers;
          for (size_t c = 0; c < seen; ++c) {
            const size_t i = r * columns + c;
            powers.push_back(std::exp(at("scaled", i) + (part.contains("bias") ? at("bias", i) : 0.0)));
            sum += powers.back();
          }
          for (size_t c = 0; c < seen; ++c) {
            EXPECT_NEAR(powers[c] / sum, at("weights", r * columns + c), 2e-3)
                << path << " scales " << scales << " positions " << static_cast<int>(positions);
          }
        }
      }
    }
  }
}

// There are no weights of a self-attention that is not, and no head: the running mean is shown, and what it is made of.
TEST(InspectDecoderSublayer, ShowsARunningMeanAndNamesTheAttentionsThatThereAre) {
  for (const nn::DecoderSublayer sublayer : {nn::DecoderSublayer::kSsru, nn::DecoderSublayer::kAverageAttention}) {
    const bool is_ssru = sublayer == nn::DecoderSublayer::kSsru;
    const std::string path = is_ssru ? "decoder.layers.0.ssru" : "decoder.layers.0.average_attention";
    const data::Vocabulary& vocabulary = decoding::vocabulary();
    const decoding::Translator translator(decoding::tiny_model(nn::NormOrder::kPre, 1, vocabulary.size(), 80, sublayer),
                                          vocabulary, vocabulary, decoding::TranslatorSetup{.threads = {.workers = 1}});
    const auto reply = [&](const json& part) {
      const json body = {{"text", kText}, {"beam_size", 1}, {"parts", {part}}};
      return json::parse(inspect_reply(translator, parse_inspect_body(body.dump()), {}));
    };
    const json answer = reply({{"part", "running_mean"}, {"path", path}});
    EXPECT_EQ(answer["model"]["decoder_sublayer"], std::string(base::name_of(sublayer)));
    const json& part = answer["parts"][0];
    const json shape = json({answer["target"]["ids"].size(), 32});
    for (const char* name : is_ssru ? std::vector{"state", "forget", "mapped_input"}
                                    : std::vector{"state", "transformed", "input_gate", "forget_gate"}) {
      EXPECT_EQ(part[name]["shape"], shape) << name;
    }
    const json residual = reply({{"part", "residual"}, {"path", path}})["parts"][0];
    EXPECT_EQ(residual["change"]["shape"], shape);
    EXPECT_EQ(residual["input"], reply({{"part", "embedding"}, {"path", "decoder.embedding"}})["parts"][0]["sum"]);
    EXPECT_EQ(reply({{"part", "weights"}})["parts"][0]["attentions"].size(), 4U);  // 2 of the encoder, 2 across
    try {
      reply({{"part", "head"}, {"path", "decoder.layers.0.self_attention"}});
      ADD_FAILURE() << "a head that is not";
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("decoder.layers.0.self_attention is no attention of this model; there are"));
    }
  }
}

TEST(WorkQueue, RefusesWhatItCannotHoldAndDoesTheRestInOrder) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::vector<int> done;
  std::promise<void> begun;
  {
    WorkQueue queue(2);
    queue.submit({}, [&] {
      begun.set_value();
      gone.wait();
    });
    begun.get_future().wait();
    queue.submit({}, [&] { done.push_back(1); });
    queue.submit({}, [&] { done.push_back(2); });
    EXPECT_THROW(queue.submit({}, [&] { done.push_back(3); }), HttpError);
    go.set_value();
  }
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
}

TEST(PageAssets, NeedNothingFromOutsideAndReadNoMarkup) {
  const Asset* page = find_asset("/");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(find_asset("/assets/index.html"), nullptr);
  EXPECT_EQ(find_asset("/assets/../index.html"), nullptr);
  ASSERT_NE(find_asset("/assets/main.js"), nullptr);
  EXPECT_EQ(find_asset("/assets/main.js")->content_type, "text/javascript; charset=utf-8");
  for (const char* name : {"/", "/assets/main.js", "/assets/dom.js", "/assets/inside.js", "/assets/translate.js",
                           "/assets/machine.js", "/assets/base.css"}) {
    const std::string text(find_asset(name)->bytes);
    for (const char* forbidden : {"innerHTML", "insertAdjacentHTML", "document.write", "eval(", "src=\"http", "@import",
                                  "url(http", "style=\"", "onclick="}) {
      EXPECT_EQ(text.find(forbidden), std::string::npos) << name << " holds " << forbidden;
    }
  }
}

// Encoders: the text in its frame, and nothing that is written.
class InspectEncoder : public Inspect {
 protected:
  InspectEncoder() {
    const auto labeler = std::make_shared<const decoding::TextLabeler>(
        decoding::tiny_encoder(models::EncoderHead::kTags), decoding::word_pieces(),
        decoding::tiny_labels(models::EncoderHead::kTags));
    std::vector<ServedEncoder> encoders = {
        {.id = "tiny", .folder = "tiny", .sha256 = "0", .labeler = labeler, .service = nullptr}};
    encoders.front().card = model_card("tiny", *labeler, {});
    models_.set(std::make_shared<ServedModels>(std::vector<ServedModel>(), std::vector<ServedLanguageModel>(),
                                               std::move(encoders)));
  }
  json part_of(const json& wanted) { return inspect({{"text", "the cat"}, {"parts", {wanted}}})["parts"][0]; }
};

TEST_F(InspectEncoder, ReadsTheTextInItsFrameAndWritesNothing) {
  const json answer = inspect({{"model", "tiny"}, {"text", "the cat"}});
  EXPECT_EQ(answer["source"]["pieces"].size(), 4U) << answer["source"];
  EXPECT_EQ(answer["target"]["ids"], json::array());
  EXPECT_EQ(answer["model"]["encoder_layers"], 2);
  EXPECT_EQ(answer["model"]["decoder_layers"], 0);
  EXPECT_EQ(answer["model"]["architecture"], "encoder-only");
  EXPECT_EQ(json::parse(ask(get("/v1/model", "model=tiny")).body)["labels"], json({"day", "dusk", "night"}));
}

TEST_F(InspectEncoder, PartsAreThoseThatTheLayersCompute) {
  const json embedding = part_of({{"part", "embedding"}, {"path", "embedding"}});
  const json first = part_of({{"part", "residual"}, {"path", "layers.0.self_attention"}});
  EXPECT_EQ(embedding["result"], first["input"]) << "what the first layer reads";
  for (const char* name : {"words", "positions", "sum", "segments"}) {
    EXPECT_EQ(embedding[name]["shape"], json({4, 16})) << name;
  }
  const json last = part_of({{"part", "output"}, {"path", "encoder"}});
  EXPECT_EQ(last["output"]["shape"], json({4, 16}));
  const json head = part_of({{"part", "head"}, {"path", "layers.1.self_attention"}, {"head", 1}});
  EXPECT_EQ(head["causal"], false);
  EXPECT_EQ(head["weights"]["shape"], json({4, 4}));
  for (size_t row = 0; row < 4; ++row) {
    double sum = 0.0;
    for (size_t column = 0; column < 4; ++column) {
      sum += head["weights"]["values"][row * 4 + column].get<double>();
    }
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
  EXPECT_EQ(part_of({{"part", "weights"}})["attentions"].size(), 2U);
  EXPECT_EQ(part_of({{"part", "feed_forward"}, {"path", "layers.0.feed_forward"}})["hidden"]["shape"], json({4, 32}));
}

TEST_F(InspectEncoder, WhatIsWrittenIsRefused) {
  for (const char* part : {"candidates", "logits", "beam"}) {
    expect_refused({{"text", "a"}, {"parts", {{{"part", part}}}}}, "an encoder writes no text");
  }
  expect_refused({{"text", "a"}, {"max_tokens", 3}}, "max_tokens is for models that write");
  expect_refused({{"text", " "}}, "the text is blank");
  expect_refused({{"text", std::string(30, '.')}}, "the text has 32 tokens, at most 24");
  EXPECT_EQ(inspect({{"text", "a"}, {"model", "other"}}, 404)["error"], "no language model \"other\" is served");
}

}  // namespace
}  // namespace dragoman::serving
