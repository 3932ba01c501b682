// The interface of OpenAI for language models, without a connection: requests, answers, streams, refusals.
#include "serving/routes/completion_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/files.h"
#include "base/random.h"
#include "base/sha256.h"
#include "decoding/search/candidates.h"
#include "decoding/tiny_language_model.h"
#include "recorded_exchange.h"
#include "serving/routes/completion_request.h"
#include "serving/routes/health_routes.h"
#include "serving/routes/metrics_routes.h"
#include "serving/routes/model_list_routes.h"
#include "serving/routes/page_settings.h"
#include "serving/routes/spec_routes.h"
#include "support/temporary_folder.h"
#include "support/wait_until.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kContext = 48;

/// @param vocabulary  letters(), or one without an end, so that texts go on to max_tokens
std::shared_ptr<const ServedModels> tiny_language_models(int64_t context = kContext,
                                                         const data::Vocabulary& vocabulary = decoding::letters()) {
  std::vector<ServedLanguageModel> models;
  for (const char* id : {"tiny", "other"}) {
    const auto generator = std::make_shared<const decoding::Generator>(
        decoding::tiny_language_model(models.size() + 1, context), vocabulary, decoding::ServiceThreads{.workers = 2});
    models.push_back({.id = id, .folder = id, .sha256 = "0123456789abcdef", .generator = generator, .created = 17});
  }
  return std::make_shared<ServedModels>(std::vector<ServedModel>(), std::move(models));
}

std::shared_ptr<const ServedModels> endless_models() {
  return tiny_language_models(4000, decoding::letters().with_special({}));
}

/// The data of the events of a stream, without the last one, which must be [DONE].
std::vector<json> events_of(const std::string& stream) {
  std::vector<json> events;
  std::string_view rest = stream;
  const std::string_view begin = "data: ";
  const std::string_view last = "data: [DONE]\n\n";
  EXPECT_TRUE(rest.ends_with(last)) << stream;
  rest.remove_suffix(rest.ends_with(last) ? last.size() : 0);
  while (!rest.empty()) {
    const size_t end = rest.find("\n\n");
    EXPECT_TRUE(rest.starts_with(begin) && end != std::string_view::npos) << rest;
    events.push_back(json::parse(rest.substr(begin.size(), end - begin.size())));
    rest.remove_prefix(std::min(rest.size(), end + 2));
  }
  return events;
}

class CompletionRoutes : public testing::Test {
 protected:
  CompletionRoutes() {
    context_.is_ready = true;
    add_model_list_routes(router_, context_);
    add_completion_routes(router_, context_, prompts_);
    add_page_settings(router_, context_);
    add_spec_routes(router_, context_);
    add_health_routes(router_, context_);
    add_metrics_routes(router_, context_, [] { return ConnectionCounts(); });
  }

  std::shared_ptr<RecordedExchange> begin(const Request& request) {
    auto exchange = std::make_shared<RecordedExchange>(request);
    router_.handle(exchange);
    return exchange;
  }
  Reply ask(const Request& request) {
    const auto exchange = begin(request);
    Reply reply = exchange->answer();
    EXPECT_EQ(exchange->answers(), 1U);
    return reply;
  }
  json ask_json(const Request& request, int status = 200) {
    const Reply reply = ask(request);
    EXPECT_EQ(reply.status, status) << request.path << " " << request.body.substr(0, 200) << "\n" << reply.body;
    EXPECT_EQ(reply.content_type, "application/json");
    return json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  }
  json complete(const json& body, int status = 200) { return ask_json(post_json("/v1/completions", body), status); }
  std::vector<json> stream(json body) {
    body["stream"] = true;
    const Reply reply = ask(post_json("/v1/completions", body));
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.content_type, "text/event-stream");
    return events_of(reply.body);
  }
  void expect_refused(const json& body, const std::string& param, const std::string& text, int status = 400) {
    const json error = complete(body, status)["error"];
    EXPECT_EQ(error["param"], param.empty() ? json() : json(param)) << body.dump().substr(0, 200) << error;
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(text)) << body.dump().substr(0, 200);
  }
  void lock(const std::string& key, const std::string& limits = "") {
    base::write_file_atomic(folder_.path() / "keys", base::sha256_hex(key) + " someone " + limits + "\n");
    keys_.set(std::make_shared<ApiKeys>(folder_.path() / "keys"));
  }
  const decoding::Generator& generator() const { return *models_.get()->language_models().front().generator; }

  test_support::TemporaryFolder folder_;
  Metrics metrics_;
  Current<ApiKeys> keys_{nullptr};
  Current<const ServedModels> models_{tiny_language_models()};
  TranslationService service_{1, 64, std::chrono::seconds(2)};
  CompletionService completions_{{.in_work = 8192, .longest_wait = std::chrono::seconds(2)},
                                 0.0,
                                 {.first_token = [this](double seconds) { metrics_.add_first_token(seconds); }}};
  ServingContext context_{.models = models_,
                          .keys = keys_,
                          .service = service_,
                          .metrics = metrics_,
                          .limits = {},
                          .completions = &completions_};
  Router router_;
  WorkQueue prompts_{kMostUnreadPrompts};
};

TEST_F(CompletionRoutes, TellThePageTheModelsAndWhetherAKeyIsNeeded) {
  const json settings = ask_json(get("/frontend/settings"));
  EXPECT_EQ(settings["languageModels"],
            json::array({{{"id", "tiny"}, {"context", kContext}}, {{"id", "other"}, {"context", kContext}}}));
  EXPECT_EQ(settings["charLimit"], 5000);
  EXPECT_EQ(settings["keyRequired"], false);
  EXPECT_FALSE(settings.contains("language")) << "no model translates";
  lock("secret");
  EXPECT_EQ(ask_json(get("/frontend/settings"))["keyRequired"], true);
}

TEST_F(CompletionRoutes, AnswersInTheShapeOfOpenAi) {
  const json answer =
      complete({{"model", "tiny"}, {"prompt", "the cat"}, {"max_tokens", 9}, {"temperature", 0}, {"user", "me"}});
  EXPECT_THAT(answer["id"].get<std::string>(), testing::StartsWith("cmpl-"));
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_EQ(answer["model"], "tiny");
  EXPECT_GT(answer["created"], 1'600'000'000);
  EXPECT_EQ(answer["system_fingerprint"], "fp_0123456789");
  ASSERT_EQ(answer["choices"].size(), 1U);
  const json& choice = answer["choices"][0];
  EXPECT_EQ(choice["index"], 0);
  EXPECT_EQ(choice["logprobs"], json());
  decoding::GenerationOptions options;
  options.max_tokens = 9;
  options.search.sampling = {};
  const decoding::GenerationRequest request{.prompt = "the cat"};
  const decoding::Continuation expected = generator().generate({&request, 1}, options).front();
  EXPECT_EQ(choice["text"], expected.text);
  EXPECT_EQ(choice["finish_reason"], expected.ids.size() == 9 ? "length" : "stop");
  EXPECT_EQ(answer["usage"], json({{"prompt_tokens", 7},
                                   {"completion_tokens", expected.ids.size()},
                                   {"total_tokens", 7 + expected.ids.size()}}));
}

TEST_F(CompletionRoutes, ListsItsModels) {
  const json tiny = {{"id", "tiny"}, {"object", "model"}, {"created", 17}, {"owned_by", "dragoman"}};
  const json list = ask_json(get("/v1/models"));
  EXPECT_EQ(list["object"], "list");
  ASSERT_EQ(list["data"].size(), 2U);
  EXPECT_EQ(list["data"][0], tiny);
  EXPECT_EQ(ask_json(get("/v1/models/tiny")), tiny);
  EXPECT_EQ(ask_json(get("/v1/models/gpt-5"), 404)["error"]["code"], "model_not_found");
  expect_refused({{"model", "gpt-5"}, {"prompt", "a"}}, "model", "`gpt-5` does not exist", 404);
  EXPECT_EQ(complete({{"model", "other"}, {"prompt", "a"}})["model"], "other");
  EXPECT_EQ(complete({{"prompt", "a"}})["model"], "tiny") << "without a name it is the first";
}

TEST_F(CompletionRoutes, AStreamJoinedIsTheWholeAnswer) {
  for (const json& body :
       {json({{"prompt", "the cat"}, {"max_tokens", 20}, {"seed", 3}}),
        json({{"prompt", {"dog", "a", "zz"}}, {"n", 3}, {"seed", 4}, {"max_tokens", 12}}),
        json({{"prompt", "the cat"}, {"max_tokens", 30}, {"seed", 5}, {"stop", {"e", "th"}}}),
        json({{"prompt", "the cat"}, {"seed", 6}, {"echo", true}, {"logprobs", 3}}),
        json({{"prompt", "the cat"}, {"seed", 6}, {"echo", true}, {"logprobs", 2}, {"max_tokens", 0}}),
        json({{"prompt", ""}, {"temperature", 0}, {"echo", true}, {"logprobs", 0}}),
        json({{"prompt", {{1, 2, 3}, {4}}}, {"echo", true}, {"seed", 7}}),
        json({{"prompt", "cat"}, {"max_tokens", 40}, {"seed", 9}, {"stop", "o"}, {"logprobs", 1}})}) {
    const json whole = complete(body);
    json with_usage = body;
    with_usage["stream_options"] = {{"include_usage", true}};
    const std::vector<json> events = stream(with_usage);
    std::vector<std::string> texts(whole["choices"].size());
    std::vector<json> reasons(texts.size()), tokens(texts.size(), json::object());
    for (size_t i = 0; i + 1 < events.size(); ++i) {
      EXPECT_EQ(events[i]["id"], events[0]["id"]);
      EXPECT_EQ(events[i]["usage"], json());
      const json& choice = events[i]["choices"].at(0);
      const auto index = choice["index"].get<size_t>();
      EXPECT_EQ(reasons[index], json()) << "a piece after the end of its text";
      texts[index] += choice["text"].get<std::string>();
      reasons[index] = choice["finish_reason"];
      for (const auto& [name, list] : choice["logprobs"].items()) {
        for (const json& one : list) {
          tokens[index][name].push_back(one);
        }
      }
    }
    EXPECT_EQ(events.back()["choices"], json::array());
    EXPECT_EQ(events.back()["usage"], whole["usage"]) << body;
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(texts[i], whole["choices"][i]["text"]) << body;
      EXPECT_EQ(reasons[i], whole["choices"][i]["finish_reason"]) << body;
      for (const auto& [name, list] : whole["choices"][i]["logprobs"].items()) {
        if (!list.is_null() && !list.empty()) {
          EXPECT_EQ(tokens[i][name], list) << name << " of " << body;
        }
      }
    }
  }
}

TEST_F(CompletionRoutes, EachTextIsTheOneThatItIsAlone) {
  const json together = complete({{"prompt", {"the cat", "dog"}}, {"n", 3}, {"seed", 11}, {"max_tokens", 12}});
  ASSERT_EQ(together["choices"].size(), 6U);
  const json cat = complete({{"prompt", "the cat"}, {"n", 3}, {"seed", 11}, {"max_tokens", 12}});
  const json dog = complete({{"prompt", "dog"}, {"n", 1}, {"seed", 11}, {"max_tokens", 12}});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(together["choices"][i]["text"], cat["choices"][i]["text"]);
  }
  EXPECT_EQ(together["choices"][3]["text"], dog["choices"][0]["text"]);
  EXPECT_NE(cat["choices"][0]["text"], cat["choices"][1]["text"]) << "samples are drawn apart";
  EXPECT_EQ(together["usage"]["prompt_tokens"], 10) << "a prompt counts once";
}

TEST_F(CompletionRoutes, WithoutASeedEachRequestDrawsAnew) {
  std::set<std::string> texts;
  for (int i = 0; i < 8; ++i) {
    texts.insert(complete({{"prompt", "the cat"}, {"max_tokens", 30}})["choices"][0]["text"].get<std::string>());
  }
  EXPECT_GT(texts.size(), 1U);
}

TEST_F(CompletionRoutes, StopStringsEndATextBeforeThem) {
  models_.set(endless_models());
  const json body = {{"prompt", "the cat"}, {"max_tokens", 30}, {"seed", 5}, {"logprobs", 0}};
  const std::string text = complete(body)["choices"][0]["text"];
  json stopped = body;
  stopped["stop"] = {"never", text.substr(14, 3)};
  const size_t length = text.find(text.substr(14, 3));
  const json choice = complete(stopped)["choices"][0];
  EXPECT_EQ(choice["text"], text.substr(0, length));
  EXPECT_EQ(choice["finish_reason"], "stop");
  std::string tokens;
  for (const json& token : choice["logprobs"]["tokens"]) {
    tokens += token == data::kEndOfText ? "" : token.get<std::string>();  // a token like any other in this model
  }
  EXPECT_EQ(tokens, choice["text"]) << "none of the stop string";
  stopped["stop"] = "never";
  EXPECT_EQ(complete(stopped)["choices"][0]["text"], text);
}

TEST_F(CompletionRoutes, LogprobsAreThoseOfTheModel) {
  const json plain = complete({{"prompt", "the cat"}, {"max_tokens", 8}, {"seed", 2}, {"temperature", 1.5}});
  const json answer = complete(
      {{"prompt", "the cat"}, {"max_tokens", 8}, {"seed", 2}, {"temperature", 1.5}, {"logprobs", 4}, {"echo", true}});
  const json& choice = answer["choices"][0];
  const std::string text = choice["text"];
  EXPECT_EQ(text, "the cat" + plain["choices"][0]["text"].get<std::string>()) << "logprobs change no text";
  const json& logprobs = choice["logprobs"];
  ASSERT_EQ(logprobs["tokens"].size(), text.size()) << "a token is a letter";
  EXPECT_EQ(logprobs["token_logprobs"][0], json()) << "nothing comes before it";
  EXPECT_EQ(logprobs["top_logprobs"][0], json());
  const std::vector<int32_t> ids = generator().vocabulary().encode(text);
  const autograd::NoGrad inference;
  const models::Model& model = generator().model();
  const auto hidden = model.forward({{}, models::one_sentence(ids)}, {});
  const tensor::Tensor logits = model.output().logits(hidden).value();
  for (size_t i = 1; i < ids.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const std::vector<float> values = logits.rows(row - 1, row).to_vector<float>();
    const double normaliser = decoding::log_normaliser(values);
    EXPECT_NEAR(logprobs["token_logprobs"][i].get<double>(), values[static_cast<size_t>(ids[i])] - normaliser, 1e-4);
    EXPECT_EQ(logprobs["text_offset"][i], i);
    const json& top = logprobs["top_logprobs"][i];
    const std::string token = logprobs["tokens"][i];
    EXPECT_EQ(top[token], logprobs["token_logprobs"][i]) << "the token itself is among them";
    EXPECT_TRUE(top.size() == 4 || top.size() == 5);
    const double largest = *std::max_element(values.begin(), values.end()) - normaliser;
    double likeliest = -1e9;
    for (const auto& [name, log_prob] : top.items()) {
      likeliest = std::max(likeliest, log_prob.get<double>());
    }
    EXPECT_NEAR(likeliest, largest, 1e-4);
  }
}

TEST_F(CompletionRoutes, GreedyAlternativesBeginWithTheChosen) {
  models_.set(endless_models());
  for (const double penalty : {1.0, 1.3}) {  // greedy search sees a few of the logits, or all of them
    const json choice = complete({{"prompt", "dog"},
                                  {"max_tokens", 10},
                                  {"temperature", 0},
                                  {"logprobs", 12},
                                  {"repetition_penalty", penalty}})["choices"][0];
    for (const json& top : choice["logprobs"]["top_logprobs"]) {
      EXPECT_TRUE(top.size() == 12 || top.size() == 13);
    }
    EXPECT_EQ(choice["logprobs"]["top_logprobs"].size(), 10U);
  }
}

TEST_F(CompletionRoutes, ATextEndsAtTheEndOfTheContext) {
  const json answer = complete({{"prompt", "the cat"}, {"max_tokens", 1000}, {"temperature", 0}});
  EXPECT_LE(answer["usage"]["total_tokens"], kContext);
  const std::string reason = answer["choices"][0]["finish_reason"];
  EXPECT_EQ(reason, answer["usage"]["total_tokens"] >= kContext - 1 ? "length" : reason);
}

TEST_F(CompletionRoutes, TheContextSlidesWhereItIsAskedTo) {
  // So hot that the end is as likely as any letter: some of the texts are longer than the context.
  const json body = {{"prompt", "abc"}, {"max_tokens", 100}, {"temperature", 20},
                     {"n", 30},         {"seed", 1},         {"context_shift", true}};
  const json answer = complete(body);
  size_t longest = 0;
  for (const json& choice : answer["choices"]) {
    longest = std::max(longest, choice["text"].get<std::string>().size());
  }
  EXPECT_GT(longest, static_cast<size_t>(kContext));
  expect_refused({{"context_keep", 3}}, "context_keep", "give \"context_shift\": true");
  expect_refused({{"context_keep", 46}, {"context_shift", true}}, "context_keep", "must be 45 or less");
  expect_refused({{"context_shift", 1}}, "context_shift", "must be true or false");
}

TEST_F(CompletionRoutes, EachFieldIsCheckedByName) {
  const auto with = [](const char* name, const json& value) { return json({{"prompt", "a"}, {name, value}}); };
  expect_refused(with("max_tokens", -1), "max_tokens", "max_tokens is -1, must be a whole number from 0 to 1000000");
  expect_refused(with("max_tokens", 0), "max_tokens", "must be 1 or more without");
  expect_refused(with("max_tokens", 16.5), "max_tokens", "whole number");
  expect_refused(with("max_tokens", 18446744073709551615U), "max_tokens", "whole number");
  expect_refused(with("max_tokens", "16"), "max_tokens", "a text");
  expect_refused(with("temperature", -0.1), "temperature", "from 0 to 100");
  expect_refused(with("temperature", true), "temperature", "is true");
  expect_refused(with("top_p", 1.1), "top_p", "from 0 to 1");
  expect_refused(with("n", 0), "n", "from 1 to 128");
  expect_refused(with("n", 129), "n", "from 1 to 128");
  expect_refused(with("best_of", 3), "best_of", "not supported");
  expect_refused(with("logprobs", 21), "logprobs", "from 0 to 20");
  expect_refused(with("echo", "yes"), "echo", "true or false");
  expect_refused(with("seed", 1.5), "seed", "whole number");
  expect_refused(with("stop", ""), "stop", "0 bytes");
  expect_refused(with("stop", {"a", nullptr}), "stop", "null");
  expect_refused(with("stop", std::string(300, 'a')), "stop", "300 bytes");
  expect_refused(with("stop", std::vector<std::string>(17, "a")), "stop", "at most 16");
  expect_refused(with("suffix", "x"), "suffix", "not supported");
  expect_refused(with("presence_penalty", 0.5), "presence_penalty", "not supported");
  expect_refused(with("logit_bias", {{"50256", -100}}), "logit_bias", "not supported");
  expect_refused(with("stream_options", json::object()), "stream_options", "is for streams");
  expect_refused({{"prompt", "a"}, {"stream", true}, {"stream_options", {{"include", 1}}}}, "stream_options.include",
                 "Unrecognized");
  expect_refused(with("prompts", "x"), "prompts", "Unrecognized request argument: prompts");
  expect_refused(with("model", 7), "model", "must be a text");
  for (const json& harmless :
       {with("user", "me"), with("suffix", nullptr), with("presence_penalty", 0), with("frequency_penalty", 0.0),
        with("logit_bias", json::object()), with("best_of", 1), with("stop", nullptr), with("temperature", nullptr),
        with("top_p", 0), with("top_k", -1), with("min_p", 0.1), with("temperature", 1e-9), with("seed", -5)}) {
    complete(harmless);
  }
}

// Random values in random fields, and random bytes: a request that is taken is one that the generator takes.
TEST_F(CompletionRoutes, AnyBodyIsTakenOrRefusedByTheClientsFault) {
  const std::vector<json> values = {0,
                                    1,
                                    -1,
                                    2.5,
                                    -0.0,
                                    1e308,
                                    18446744073709551615U,
                                    true,
                                    "",
                                    "a",
                                    "\xff",
                                    "1",
                                    nullptr,
                                    json::array(),
                                    json::object(),
                                    {1, 2},
                                    {""},
                                    {{}},
                                    {"a", 1},
                                    {{1}, {"a"}},
                                    INT64_MIN,
                                    std::string(9000, 'x'),
                                    1e-300,
                                    5};
  const std::vector<const char*> names = {"model",
                                          "prompt",
                                          "max_tokens",
                                          "temperature",
                                          "top_p",
                                          "top_k",
                                          "min_p",
                                          "stream_options",
                                          "n",
                                          "best_of",
                                          "stop",
                                          "echo",
                                          "logprobs",
                                          "stream",
                                          "suffix",
                                          "logit_bias",
                                          "seed",
                                          "user",
                                          "repetition_penalty",
                                          "context_shift",
                                          "context_keep",
                                          "presence_penalty"};
  base::Random random(1);
  size_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    json body = {{"prompt", "a"}};
    for (uint64_t field = random.below(4); field > 0; --field) {
      body[names[random.below(names.size())]] = values[random.below(values.size())];
    }
    std::string bytes = body.dump(-1, ' ', false, json::error_handler_t::ignore);
    if (random.below(3) == 0) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    try {
      const CompletionRequest asked = completion_request(post("/v1/completions", "application/json", bytes), {});
      asked.options.check();
      EXPECT_TRUE(asked.max_tokens >= 0 && asked.n >= 1 && !asked.prompts.empty()) << bytes;
      ++taken;
    } catch (const HttpError& error) {
      EXPECT_EQ(error.status(), 400) << bytes;
    }
  }
  EXPECT_GT(taken, 2000U);
}

TEST_F(CompletionRoutes, PromptsAreCheckedBeforeAnythingIsComputed) {
  expect_refused({{"prompt", std::string(kContext, 'a')}}, "prompt", "48 tokens, the model takes 48");
  EXPECT_EQ(complete({{"prompt", std::string(kContext, 'a')}}, 400)["error"]["code"], "context_length_exceeded");
  expect_refused({{"prompt", std::string(kContext, 'a')}, {"stream", true}}, "prompt", "48 tokens");
  complete({{"prompt", std::string(kContext - 1, 'a')}});
  expect_refused({{"prompt", std::string(6000, 'a')}}, "prompt", "6000 characters, at most 5000");
  expect_refused({{"prompt", "\u4e2d"}}, "prompt", "U+4E2D");
  expect_refused({{"prompt", json::array()}}, "prompt", "an empty list");
  expect_refused({{"prompt", {json::array()}}}, "prompt", "an empty list");
  expect_refused({{"prompt", 5}}, "prompt", "must be a text");
  expect_refused({{"prompt", {1, "a"}}}, "prompt", "a text");
  expect_refused({{"prompt", {1, -1}}}, "prompt", "-1");
  expect_refused({{"prompt", {1, 4294967296}}}, "prompt", "4294967296");
  expect_refused({{"prompt", {1, 900}}}, "prompt", "the largest of the model is 29");
  expect_refused({{"prompt", std::vector<std::string>(129, "a")}}, "prompt", "129 prompts");
  expect_refused({{"prompt", std::vector<std::string>(64, "a")}, {"n", 3}}, "n", "at most 128");
  EXPECT_EQ(completions_.counts().target_tokens > 0, true);
}

TEST_F(CompletionRoutes, BadJsonIsRefused) {
  for (const char* body :
       {"", "{", "[]", "null", "{\"prompt\": \"a\"} x", "{\"prompt\": \"\xff\"}", "{\"n\": 1, \"n\": 2}", "prompt=a"}) {
    const json error = ask_json(post("/v1/completions", "application/json", body), 400)["error"];
    EXPECT_EQ(error["message"], "Invalid JSON format") << body;
    EXPECT_EQ(error["type"], "invalid_request_error");
  }
  const std::string deep = "{\"prompt\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  ask_json(post("/v1/completions", "application/json", deep), 400);
}

TEST_F(CompletionRoutes, ChatIsRefusedInASentence) {
  const json error = ask_json(
      post_json("/v1/chat/completions", {{"model", "tiny"}, {"messages", {{{"role", "user"}, {"content", "a"}}}}}),
      400);
  EXPECT_THAT(error["error"]["message"].get<std::string>(), HasSubstr("no chat template"));
}

TEST_F(CompletionRoutes, UnknownPathsHaveTheSameShape) {
  EXPECT_EQ(ask_json(get("/v1/embeddings"), 404)["error"]["message"], "Not found");
  EXPECT_EQ(ask_json(get("/v1/completions"), 405)["error"]["message"], "Method not allowed");
}

TEST_F(CompletionRoutes, KeysComeAsBearerTokens) {
  lock("secret", "2 0");
  Request request = post_json("/v1/completions", {{"prompt", "a"}, {"max_tokens", 1}});
  json error = ask_json(request, 401)["error"];
  EXPECT_EQ(error["code"], "invalid_api_key");
  request.headers.push_back({"Authorization", "bearer wrong"});
  EXPECT_EQ(ask(request).status, 401);
  EXPECT_EQ(ask(get("/v1/models")).status, 401);
  request.headers.back().value = "Bearer secret";
  EXPECT_EQ(ask(request).status, 200);
  EXPECT_EQ(ask(request).status, 200);
  error = ask_json(request, 429)["error"];
  EXPECT_EQ(error["type"], "rate_limit_error");
  EXPECT_EQ(error["code"], "rate_limit_exceeded");
}

TEST_F(CompletionRoutes, AClientThatGoesEndsItsWork) {
  models_.set(endless_models());
  json body = {{"prompt", "the cat"}, {"max_tokens", 3900}, {"n", 32}, {"seed", 1}};
  for (const bool is_stream : {false, true}) {
    body["stream"] = is_stream;
    const auto exchange = begin(post_json("/v1/completions", body));
    EXPECT_TRUE(test_support::wait_until([&] { return completions_.counts().jobs == 1; }));
    exchange->cancel();
    EXPECT_TRUE(test_support::wait_until([&] { return completions_.counts().jobs == 0; }));
    EXPECT_EQ(completions_.counts().waiting_cost, 0);
  }
  EXPECT_EQ(completions_.counts().cancelled, 2U);
}

TEST_F(CompletionRoutes, ALateCompletionIsAnError) {
  models_.set(endless_models());
  context_.request_time = std::chrono::milliseconds(30);
  const json body = {{"prompt", "the cat"}, {"max_tokens", 3900}, {"n", 64}, {"seed", 1}};
  const json error = complete(body, 504)["error"];
  EXPECT_EQ(error["type"], "server_error");
  EXPECT_EQ(error["message"], "the completion took too long");
  json streamed = body;
  streamed["stream"] = true;
  const Reply reply = ask(post_json("/v1/completions", streamed));
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr("data: {\"error\":{"));
  EXPECT_THAT(reply.body, testing::Not(HasSubstr("[DONE]")));
}

TEST_F(CompletionRoutes, MoreThanFitsIsRefusedAtOnce) {
  models_.set(endless_models());
  const json big = {{"prompt", "the cat"}, {"max_tokens", 3900}, {"n", 16}};
  const auto first = begin(post_json("/v1/completions", big));
  EXPECT_TRUE(test_support::wait_until([&] { return completions_.counts().jobs == 1; }));
  const json error = complete(big, 503)["error"];
  EXPECT_EQ(error["message"], "The server is busy, try again");
  EXPECT_EQ(completions_.counts().rejected, 1U);
  first->cancel();
  EXPECT_EQ(first->answer().status, 503);
}

TEST_F(CompletionRoutes, RequestsTogetherGetTheTextsThatTheyGetAlone) {
  std::vector<json> bodies;
  std::vector<std::string> alone;
  for (int i = 0; i < 24; ++i) {
    bodies.push_back({{"prompt", std::string(static_cast<size_t>(i % 7 + 1), static_cast<char>('a' + i))},
                      {"max_tokens", 5 + i},
                      {"seed", i},
                      {"temperature", i % 3}});
    alone.push_back(complete(bodies.back())["choices"][0]["text"].get<std::string>());
  }
  std::vector<std::shared_ptr<RecordedExchange>> together;
  for (const json& body : bodies) {
    together.push_back(begin(post_json("/v1/completions", body)));
  }
  for (size_t i = 0; i < bodies.size(); ++i) {
    EXPECT_EQ(json::parse(together[i]->answer().body)["choices"][0]["text"], alone[i]) << bodies[i];
  }
  EXPECT_EQ(completions_.counts().waiting_cost, 0);
}

TEST_F(CompletionRoutes, MetricsCountTokensAndTheFirstOfThem) {
  const json answer = complete({{"prompt", "the cat"}, {"max_tokens", 9}, {"seed", 1}});
  const std::string text = ask(get("/metrics")).body;
  const auto written = answer["usage"]["completion_tokens"].get<int>();
  EXPECT_THAT(text, HasSubstr("\ndragoman_completion_tokens_total " + std::to_string(written) + "\n"));
  EXPECT_THAT(text, HasSubstr("\ndragoman_first_token_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("\ndragoman_requests_in_flight 0\n"));
  EXPECT_THAT(text, HasSubstr("dragoman_model_info{sha256=\"0123456789abcdef\",name=\"tiny\"} 1\n"));
}

TEST_F(CompletionRoutes, TheDocumentNamesWhatIsServed) {
  EXPECT_EQ(ask_json(get("/health")), json({{"status", "ok"}}));
  const json paths = ask_json(get("/spec"))["paths"];
  EXPECT_TRUE(paths.contains("/v1/completions"));
  EXPECT_TRUE(paths.contains("/v1/models/{model}"));
  EXPECT_TRUE(paths.contains("/health"));
  EXPECT_FALSE(paths.contains("/translate"));
}

}  // namespace
}  // namespace dragoman::serving
