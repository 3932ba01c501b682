// The routes of encoders, without a connection: answers equal to those of the commands, alone and beside others;
// requests that are refused.
#include "serving/routes/encoder_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/base64.h"
#include "base/files.h"
#include "base/random.h"
#include "base/sha256.h"
#include "decoding/text_encoder.h"
#include "decoding/tiny_encoder.h"
#include "recorded_exchange.h"
#include "serving/routes/encoder_inputs.h"
#include "serving/routes/inspect_routes.h"
#include "serving/routes/metrics_routes.h"
#include "serving/routes/model_list_routes.h"
#include "serving/routes/page_settings.h"
#include "serving/routes/spec_routes.h"
#include "support/temporary_folder.h"
#include "support/wait_until.h"

namespace dragoman::serving {
namespace {

using models::EncoderHead;
using nlohmann::json;
using testing::HasSubstr;

ServedEncoder tiny_served_encoder(const char* id, EncoderHead head, int64_t context = decoding::kTinyEncoderContext) {
  const auto model = decoding::tiny_encoder(head, 1, context);
  ServedEncoder encoder{.id = id, .folder = id, .sha256 = "0123456789abcdef", .labeler = {}, .service = {}};
  encoder.labeler =
      std::make_shared<const decoding::TextLabeler>(model, decoding::word_pieces(), decoding::tiny_labels(head));
  encoder.service = std::make_shared<decoding::EncoderService>(model, decoding::ServiceThreads{.workers = 2}, 64);
  encoder.created = 17;
  return encoder;
}

std::shared_ptr<const ServedModels> tiny_encoders(int64_t context = decoding::kTinyEncoderContext) {
  std::vector<ServedEncoder> encoders;
  encoders.push_back(tiny_served_encoder("bare", EncoderHead::kNone, context));
  encoders.push_back(tiny_served_encoder("classes", EncoderHead::kClasses, context));
  encoders.push_back(tiny_served_encoder("tags", EncoderHead::kTags, context));
  encoders.push_back(tiny_served_encoder("words", EncoderHead::kWords, context));
  return std::make_shared<ServedModels>(std::vector<ServedModel>(), std::vector<ServedLanguageModel>(),
                                        std::move(encoders));
}

class EncoderRoutes : public testing::Test {
 protected:
  EncoderRoutes() {
    context_.is_ready = true;
    add_model_list_routes(router_, context_);
    add_encoder_routes(router_, context_, queue_);
    add_page_settings(router_, context_);
    add_spec_routes(router_, context_);
    add_inspect_routes(router_, context_, inspections_);
    add_metrics_routes(router_, context_, [] { return ConnectionCounts(); });
  }

  std::shared_ptr<RecordedExchange> begin(const Request& request) {
    auto exchange = std::make_shared<RecordedExchange>(request);
    router_.handle(exchange);
    return exchange;
  }
  json ask_json(const Request& request, int status = 200) {
    const auto exchange = begin(request);
    const Reply reply = exchange->answer();
    EXPECT_EQ(exchange->answers(), 1U);
    EXPECT_EQ(reply.status, status) << request.path << " " << request.body.substr(0, 200) << "\n" << reply.body;
    EXPECT_EQ(reply.content_type, "application/json");
    return json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  }
  json ask(const std::string& path, const json& body, int status = 200) {
    return ask_json(post_json(path, body), status);
  }
  void expect_refused(const std::string& path, const json& body, const std::string& param, const std::string& text,
                      int status = 400) {
    const json error = ask(path, body, status)["error"];
    EXPECT_EQ(error["param"], param) << path << " " << body.dump().substr(0, 200) << error;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(text)) << body.dump().substr(0, 200);
  }
  void lock(const std::string& key) {
    base::write_file_atomic(folder_.path() / "keys", base::sha256_hex(key) + " someone\n");
    keys_.set(std::make_shared<ApiKeys>(folder_.path() / "keys"));
  }
  const decoding::TextLabeler& labeler(const char* id) const { return *models_.get()->find_encoder(id)->labeler; }
  std::vector<float> vector_of(const std::string& text) const {
    const decoding::TextLabeler& bare = labeler("bare");
    return decoding::TextEncoder(bare.shared_model(), bare.vocabulary()).embed({&text, 1}).values;
  }

  test_support::TemporaryFolder folder_;
  Metrics metrics_;
  Current<ApiKeys> keys_{nullptr};
  Current<const ServedModels> models_{tiny_encoders()};
  TranslationService service_{1, 64, std::chrono::seconds(2)};
  EncodingService encodings_{{.in_work = 8192, .longest_wait = std::chrono::seconds(2)}, 0.0, [](double) {}};
  ServingContext context_{.models = models_,
                          .keys = keys_,
                          .service = service_,
                          .metrics = metrics_,
                          .limits = {},
                          .encodings = &encodings_};
  Router router_;
  WorkQueue queue_{64};
  WorkQueue inspections_{4};
};

TEST_F(EncoderRoutes, VectorsAreThoseOfTheCommand) {
  const json answer = ask("/v1/embeddings", {{"model", "bare"}, {"input", {"the cat", "a dog runs"}}, {"user", "me"}});
  EXPECT_EQ(answer["object"], "list");
  EXPECT_EQ(answer["model"], "bare");
  ASSERT_EQ(answer["data"].size(), 2U);
  EXPECT_EQ(answer["data"][1]["object"], "embedding");
  EXPECT_EQ(answer["data"][1]["index"], 1);
  EXPECT_EQ(answer["data"][0]["embedding"].get<std::vector<float>>(), vector_of("the cat"));
  EXPECT_EQ(answer["data"][1]["embedding"].get<std::vector<float>>(), vector_of("a dog runs"));
  EXPECT_EQ(answer["usage"], json({{"prompt_tokens", 9}, {"total_tokens", 9}})) << "with [CLS] and [SEP]";
}

TEST_F(EncoderRoutes, VectorsComeInBase64Too) {
  const json answer = ask("/v1/embeddings", {{"input", "the cat"}, {"encoding_format", "base64"}, {"dimensions", 16}});
  const std::vector<float> vector = vector_of("the cat");
  EXPECT_EQ(answer["data"][0]["embedding"], base::base64(std::as_bytes(std::span(vector))));
}

TEST_F(EncoderRoutes, TokenIdsAreReadAsTheyAre) {
  const data::EncoderInput input = data::encoder_input(decoding::word_pieces(), {"the cat", std::nullopt}, 24);
  const json whole = ask("/v1/embeddings", {{"input", "the cat"}})["data"][0]["embedding"];
  EXPECT_EQ(ask("/v1/embeddings", {{"input", input.ids}})["data"][0]["embedding"], whole);
  const json two = ask("/v1/embeddings", {{"input", {input.ids, input.ids}}});
  EXPECT_EQ(two["data"][1]["embedding"], whole);
  EXPECT_EQ(two["usage"]["prompt_tokens"], 8);
}

TEST_F(EncoderRoutes, LabelsAreThoseOfTheCommandTheLikeliestFirst) {
  const std::vector<data::TextOrPair> texts = {{"the cat runs", std::nullopt}, {"dog", std::nullopt}};
  const decoding::TextClasses expected = labeler("classes").classify(texts);
  const json answer = ask("/v1/classify", {{"input", {"the cat runs", "dog"}}});
  for (size_t text = 0; text < 2; ++text) {
    const json& item = answer["data"][text];
    EXPECT_EQ(item["object"], "classification");
    EXPECT_EQ(item["label"], labeler("classes").labels().name(expected.best(text)));
    ASSERT_EQ(item["labels"].size(), 3U);
    double before = 1.0;
    for (const json& label : item["labels"]) {
      const int32_t id = labeler("classes").labels().id(label["label"].get<std::string>());
      EXPECT_EQ(label["probability"].get<float>(), expected.of(text)[static_cast<size_t>(id)]);
      EXPECT_LE(label["probability"].get<double>(), before);
      before = label["probability"].get<double>();
    }
  }
  EXPECT_EQ(ask("/v1/classify", {{"input", "dog"}, {"top", 1}})["data"][0]["labels"].size(), 1U);
}

TEST_F(EncoderRoutes, PairsAreReadTogether) {
  const data::TextOrPair pair{"the cat runs", "the dog sleeps"};
  const decoding::TextClasses expected = labeler("classes").classify({&pair, 1});
  const json item = ask("/v1/classify", {{"input", "the cat runs"}, {"second", "the dog sleeps"}})["data"][0];
  EXPECT_EQ(item["probability"].get<float>(), expected.of(0)[static_cast<size_t>(expected.best(0))]);
  EXPECT_NE(item["probability"], ask("/v1/classify", {{"input", "the cat runs"}})["data"][0]["probability"]);
}

TEST_F(EncoderRoutes, WordsAreTaggedWhereTheyStand) {
  const std::string text = "  the c\u00e4t\tru\u00f1s\r\n\nand sleeps";
  const json answer = ask("/v1/tag", {{"input", {text, "", "dog"}}});
  const std::vector<std::vector<std::string>> sentences = {
      {"the", "c\u00e4t", "ru\u00f1s"}, {"and", "sleeps"}, {"dog"}};
  const std::vector<decoding::WordTags> expected = labeler("tags").tag(sentences);
  const json& words = answer["data"][0]["words"];
  ASSERT_EQ(words.size(), 5U);
  EXPECT_EQ(words[1]["word"], "c\u00e4t");
  EXPECT_EQ(words[1]["start"], 6) << "characters, not bytes";
  EXPECT_EQ(words[1]["end"], 9);
  EXPECT_EQ(words[4]["start"], 21);
  for (size_t i = 0; i < 5; ++i) {
    const decoding::WordTags& of_line = expected[i / 3];
    EXPECT_EQ(words[i]["tag"], labeler("tags").labels().name(of_line.tags[i % 3]));
    EXPECT_EQ(words[i]["probability"].get<float>(), of_line.probabilities[i % 3]);
  }
  EXPECT_EQ(answer["data"][1]["words"], json::array());
  EXPECT_EQ(answer["data"][2]["words"].size(), 1U);
}

TEST_F(EncoderRoutes, ALongTextInWordsIsCutIntoPartsAndWhole) {
  std::string text;
  std::vector<std::string> words;
  for (int i = 0; i < 100; ++i) {
    words.push_back(i % 3 == 0 ? "cat" : i % 3 == 1 ? "dog" : "runs");
    text += (i == 0 ? "" : " ") + words.back();
  }
  const std::vector<decoding::WordTags> expected = labeler("tags").tag({&words, 1});
  const json told = ask("/v1/tag", {{"input", text}})["data"][0]["words"];
  ASSERT_EQ(told.size(), 100U);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(told[i]["word"], words[i]);
    EXPECT_EQ(told[i]["probability"].get<float>(), expected[0].probabilities[i]);
  }
}

TEST_F(EncoderRoutes, MasksAreFilledAsByTheCommand) {
  const std::string text = "the [MASK] runs and [MASK]";
  const decoding::FilledMasks expected = labeler("words").fill({&text, 1}, 5).front();
  const json masks = ask("/v1/fill-mask", {{"input", text}})["data"][0]["masks"];
  ASSERT_EQ(masks.size(), 2U);
  for (size_t mask = 0; mask < 2; ++mask) {
    ASSERT_EQ(masks[mask].size(), 5U);
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(masks[mask][i]["piece"], expected[mask][i].piece);
      EXPECT_EQ(masks[mask][i]["id"], expected[mask][i].id);
      EXPECT_EQ(masks[mask][i]["probability"].get<float>(), expected[mask][i].probability);
    }
  }
  EXPECT_EQ(ask("/v1/fill-mask", {{"input", text}, {"top", 1}})["data"][0]["masks"][1].size(), 1U);
}

TEST_F(EncoderRoutes, AnswersBesideOthersAreThoseAlone) {
  struct Asked {
    std::string path;
    json body;
    json alone;
  };
  std::vector<Asked> all;
  base::Random random(3);
  const std::vector<std::string> words = {"the", "cat", "dog", "runs", "and", "zebra", "[MASK]", "."};
  for (int i = 0; i < 60; ++i) {
    std::string text = "[MASK]";
    for (uint64_t length = random.below(6); length > 0; --length) {
      text += " " + words[random.below(words.size())];
    }
    const char* const paths[] = {"/v1/embeddings", "/v1/classify", "/v1/tag", "/v1/fill-mask"};
    all.push_back({paths[i % 4], {{"input", text}}, {}});
    all.back().alone = ask(all.back().path, all.back().body);
  }
  std::vector<std::shared_ptr<RecordedExchange>> together;
  for (const Asked& asked : all) {
    together.push_back(begin(post_json(asked.path, asked.body)));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(json::parse(together[i]->answer().body), all[i].alone) << all[i].path << all[i].body;
  }
  EXPECT_EQ(encodings_.counts().waiting_cost, 0);
}

TEST_F(EncoderRoutes, ModelsAreNamedOrTheFirstWithTheHead) {
  EXPECT_EQ(ask("/v1/embeddings", {{"input", "a"}})["model"], "bare");
  EXPECT_EQ(ask("/v1/embeddings", {{"input", "a"}, {"model", "tags"}})["model"], "tags");
  EXPECT_EQ(ask("/v1/tag", {{"input", "a"}})["model"], "tags");
  EXPECT_EQ(ask("/v1/fill-mask", {{"input", "[MASK]"}, {"model", nullptr}})["model"], "words");
  expect_refused("/v1/tag", {{"input", "a"}, {"model", "classes"}}, "model", "head classes, /v1/tag needs tags", 404);
  expect_refused("/v1/classify", {{"input", "a"}, {"model", "gpt-5"}}, "model", "The model `gpt-5` does not exist",
                 404);
  std::vector<std::string> ids;
  const json list = ask_json(get("/v1/models"));
  for (const json& model : list["data"]) {
    ids.push_back(model["id"]);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"bare", "classes", "tags", "words"}));
  EXPECT_EQ(ask_json(get("/v1/models/tags"))["created"], 17);
  EXPECT_EQ(ask_json(get("/v1/models/none"), 404)["error"]["code"], "model_not_found");
}

TEST_F(EncoderRoutes, EachFieldIsCheckedByName) {
  const std::string embed = "/v1/embeddings", classify = "/v1/classify", tag = "/v1/tag", fill = "/v1/fill-mask";
  for (const std::string& path : {embed, classify, tag, fill}) {
    expect_refused(path, json::object(), "input", "input is missing");
    expect_refused(path, {{"input", 5}}, "input", "input is 5");
    expect_refused(path, {{"input", json::array()}}, "input", "an empty list");
    expect_refused(path, {{"input", {true}}}, "input", "input has true");
    expect_refused(path, {{"input", std::string(5001, 'a')}}, "input", "5001 characters");
    expect_refused(path, {{"input", std::vector<std::string>(129, "a")}}, "input", "129 texts");
    expect_refused(path, {{"input", "a"}, {"model", 1}}, "model", "must be a text");
    expect_refused(path, {{"input", "a"}, {"inputs", "a"}}, "inputs", "Unrecognized request argument");
  }
  expect_refused(embed, {{"input", ""}}, "input", "an empty text");
  expect_refused(classify, {{"input", {"a", ""}}}, "input", "an empty text");
  expect_refused(embed, {{"input", "a"}, {"encoding_format", "hex"}}, "encoding_format", "float or base64");
  expect_refused(embed, {{"input", "a"}, {"dimensions", 8}}, "dimensions", "the vectors of this model have 16");
  expect_refused(embed, {{"input", "a"}, {"dimensions", 0}}, "dimensions", "whole number");
  expect_refused(embed, {{"input", {1, 1000}}}, "input", "token id 1000, the largest of the model is 63");
  expect_refused(embed, {{"input", {1, -1}}}, "input", "input has -1");
  expect_refused(embed, {{"input", {1, "a"}}}, "input", "input has a text");
  expect_refused(classify, {{"input", {"a", "b"}}, {"second", "c"}}, "second", "second has 1 texts, input has 2");
  expect_refused(classify, {{"input", {1, 2}}, {"second", "c"}}, "second", "token ids");
  expect_refused(classify, {{"input", "a"}, {"second", ""}}, "second", "an empty text");
  expect_refused(classify, {{"input", "a"}, {"top", 0}}, "top", "whole number from 1");
  expect_refused(tag, {{"input", {1, 2}}}, "input", "token ids");
  expect_refused(tag, {{"input", "a"}, {"top", 1}}, "top", "Unrecognized");
  expect_refused(fill, {{"input", "the cat"}}, "input", "text 1 has no [MASK]");
  expect_refused(fill, {{"input", "[MASK]"}, {"top", 1001}}, "top", "1 to 1000");
  EXPECT_EQ(ask_json(post("/v1/tag", "application/json", "{\"input\": \"a\""), 400)["error"]["message"],
            "Invalid JSON format");
  EXPECT_EQ(ask_json(get("/v1/tag"), 405)["error"]["message"], "Method not allowed");
}

TEST_F(EncoderRoutes, ALongTextIsRefusedOrCut) {
  std::string text = "cat";
  for (int i = 1; i < 40; ++i) {
    text += " cat";
  }
  for (const char* path : {"/v1/embeddings", "/v1/classify"}) {
    const json error = ask(path, {{"input", text}}, 400)["error"];
    EXPECT_EQ(error["code"], "context_length_exceeded");
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("the text has 42 tokens, the model takes 24"));
    EXPECT_EQ(ask(path, {{"input", text}, {"truncate", true}})["usage"]["prompt_tokens"], 24);
  }
  const json cut = ask("/v1/embeddings", {{"input", text}, {"truncate", true}});
  EXPECT_EQ(cut["data"][0]["embedding"].get<std::vector<float>>(), vector_of(text)) << "as the command cuts";
  EXPECT_EQ(ask("/v1/fill-mask", {{"input", text + " [MASK]"}}, 400)["error"]["code"], "context_length_exceeded");
  expect_refused("/v1/fill-mask", {{"input", text + " [MASK]"}, {"truncate", true}}, "input",
                 "in the part that the model can take");
  expect_refused("/v1/embeddings", {{"input", std::vector<int>(25, 6)}}, "input", "25 tokens, the model takes 24");
}

TEST_F(EncoderRoutes, MasksAndCandidatesAreBounded) {
  models_.set(tiny_encoders(256));
  std::string text;
  for (int i = 0; i < 65; ++i) {
    text += "[MASK] ";
  }
  expect_refused("/v1/fill-mask", {{"input", text}}, "input", "text 1 has 65 masks, at most 64");
  text.resize(text.size() - 7);
  EXPECT_EQ(ask("/v1/fill-mask", {{"input", text}})["data"][0]["masks"].size(), 64U);
  expect_refused("/v1/fill-mask", {{"input", text}, {"top", 200}}, "top", "200 with 64 masks");
}

TEST_F(EncoderRoutes, AnyBodyIsTakenOrRefusedByTheClientsFault) {
  base::Random random(7);
  const std::vector<json> values = {
      nullptr,        true,          -1,      0,      1,      24,         1e300,         "",
      "the [MASK]",   "float",       "bare",  "tags", {1, 2}, {"a", "b"}, {{1, 2}, {3}}, {{"a", 1}},
      json::object(), json::array(), {1, "a"}};
  const std::vector<std::string> names = {"input",    "model",           "second",     "top",
                                          "truncate", "encoding_format", "dimensions", "user"};
  std::map<int, int> seen;
  for (int i = 0; i < 2000; ++i) {
    const char* const paths[] = {"/v1/embeddings", "/v1/classify", "/v1/tag", "/v1/fill-mask"};
    json body = {{"input", values[random.below(values.size())]}};
    for (uint64_t more = random.below(3); more > 0; --more) {
      body[names[random.below(names.size())]] = values[random.below(values.size())];
    }
    const auto exchange = begin(post_json(paths[random.below(4)], body));
    const Reply reply = exchange->answer();
    ++seen[reply.status];
    EXPECT_THAT(reply.status, testing::AnyOf(200, 400, 404)) << body << reply.body;
  }
  EXPECT_GT(seen[200], 20);
  EXPECT_GT(seen[400], 20);
}

TEST_F(EncoderRoutes, KeysComeAsBearerTokens) {
  lock("secret");
  Request request = post_json("/v1/embeddings", {{"input", "a"}});
  EXPECT_EQ(ask_json(request, 401)["error"]["code"], "invalid_api_key");
  request.headers.push_back({"Authorization", "Bearer secret"});
  ask_json(request);
  EXPECT_EQ(ask_json(get("/v1/models"), 401)["error"]["code"], "invalid_api_key");
}

TEST_F(EncoderRoutes, ALateOrCancelledRequestEnds) {
  context_.request_time = std::chrono::milliseconds(0);
  EXPECT_EQ(ask("/v1/embeddings", {{"input", "the cat"}}, 504)["error"]["message"], "the encoding took too long");
  context_.request_time = std::chrono::seconds(30);
  for (int i = 0; i < 50; ++i) {
    const auto exchange = begin(post_json("/v1/embeddings", {{"input", std::vector<std::string>(128, "the cat")}}));
    exchange->cancel();
  }
  // The last requests may not have been read yet while no job is under way; until then the server may be busy.
  EXPECT_TRUE(test_support::wait_until([&] {
    return begin(post_json("/v1/embeddings", {{"input", "the cat"}}))->answer().status == 200;
  }));
  EXPECT_TRUE(
      test_support::wait_until([&] { return encodings_.counts().jobs == 0 && encodings_.counts().waiting_cost == 0; }));
}

TEST_F(EncoderRoutes, ThePageAndTheOperatorAreToldOfThem) {
  const json settings = ask_json(get("/frontend/settings"));
  ASSERT_EQ(settings["encoders"].size(), 4U);
  EXPECT_EQ(settings["encoders"][1], json({{"id", "classes"},
                                           {"context", 24},
                                           {"head", "classes"},
                                           {"labels", {"day", "dusk", "night"}},
                                           {"mask", "[MASK]"}}));
  ask("/v1/embeddings", {{"input", "the cat"}});
  const std::string text = begin(get("/metrics"))->answer().body;
  EXPECT_THAT(text, HasSubstr("\ndragoman_encoded_tokens_total 4\n"));
  EXPECT_THAT(text, HasSubstr("\ndragoman_requests_in_flight 0\n"));
  EXPECT_THAT(text, HasSubstr("dragoman_model_info{sha256=\"0123456789abcdef\",name=\"tags\"} 1\n"));
  const json paths = ask_json(get("/spec"))["paths"];
  for (const char* path : {"/v1/embeddings", "/v1/classify", "/v1/tag", "/v1/fill-mask", "/v1/models"}) {
    EXPECT_TRUE(paths.contains(path)) << path;
  }
  EXPECT_FALSE(paths.contains("/v1/completions"));
  EXPECT_EQ(ask_json(get("/v1/model", "model=none"), 404)["error"], "no language model \"none\" is served");
}

}  // namespace
}  // namespace dragoman::serving
