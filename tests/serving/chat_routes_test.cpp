// Chats in the interface of OpenAI, without a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "decoding/tiny_language_model.h"
#include "recorded_exchange.h"
#include "serving/routes/chat_request.h"
#include "serving/routes/completion_routes.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTemplate =
    "{% for m in messages %}{% if m.role not in ['user', 'assistant', 'system'] or 'refuse' in m.content %}"
    "{{ raise_exception('no such talk') }}{% endif %}{{ m.role }} {{ m.content }}{{ eos_token }}\n{% endfor "
    "%}assistant ";

std::shared_ptr<const ServedModels> models_with_chat() {
  const auto generator = std::make_shared<const decoding::Generator>(
      decoding::tiny_language_model(1, 120), decoding::letters(), decoding::ServiceThreads{.workers = 2});
  std::vector<ServedLanguageModel> models;
  models.push_back({.id = "tiny", .folder = "tiny", .sha256 = "0123456789abcdef", .generator = generator});
  models.back().chat = std::make_shared<const data::ChatTemplate>(
      data::ChatFile{kTemplate, {{"eos_token", "<|endoftext|>"}}}, "template");
  models.push_back({.id = "silent", .folder = "silent", .sha256 = "0123456789abcdef", .generator = generator});
  models.push_back({.id = "strange", .folder = "strange", .sha256 = "0123456789abcdef", .generator = generator});
  models.back().chat_error = "the chat template of the model: line 1: filter \"batch\" is not supported";
  return std::make_shared<ServedModels>(std::vector<ServedModel>(), std::move(models));
}

class ChatRoutes : public testing::Test {
 protected:
  ChatRoutes() { add_completion_routes(router_, context_, prompts_); }

  Reply ask(const json& body) {
    const auto exchange = std::make_shared<RecordedExchange>(post_json("/v1/chat/completions", body));
    router_.handle(exchange);
    return exchange->answer();
  }
  json chat(const json& body, int status = 200) {
    const Reply reply = ask(body);
    EXPECT_EQ(reply.status, status) << body.dump().substr(0, 300) << "\n" << reply.body;
    return json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  }
  void expect_refused(const json& change, const std::string& param, const std::string& text) {
    json body = kAsked;
    body.merge_patch(change);
    const json error = chat(body, 400)["error"];
    EXPECT_EQ(error["param"], param) << error;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(text));
  }
  const decoding::Generator& generator() const { return *models_.get()->language_models().front().generator; }

  const json kAsked = {
      {"model", "tiny"}, {"messages", {{{"role", "user"}, {"content", "the cat"}}}}, {"max_tokens", 20}, {"seed", 5}};
  Metrics metrics_;
  Current<ApiKeys> keys_{nullptr};
  Current<const ServedModels> models_{models_with_chat()};
  TranslationService service_{1, 64, std::chrono::seconds(2)};
  CompletionService completions_{{.in_work = 8192, .longest_wait = std::chrono::seconds(2)}, 0.0, {}};
  ServingContext context_{.models = models_,
                          .keys = keys_,
                          .service = service_,
                          .metrics = metrics_,
                          .limits = {},
                          .completions = &completions_};
  Router router_;
  WorkQueue prompts_{kMostUnreadPrompts};
};

TEST_F(ChatRoutes, AnswersInTheShapeOfOpenAi) {
  const json answer = chat(kAsked);
  EXPECT_THAT(answer["id"].get<std::string>(), testing::StartsWith("chatcmpl-"));
  EXPECT_EQ(answer["object"], "chat.completion");
  ASSERT_EQ(answer["choices"].size(), 1U);
  const json& choice = answer["choices"][0];
  EXPECT_EQ(choice["index"], 0);
  EXPECT_EQ(choice["logprobs"], json());
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["message"]["refusal"], json());
  EXPECT_FALSE(choice.contains("text"));
  EXPECT_EQ(answer["usage"]["prompt_tokens"],
            std::string("user the cat").size() + 1 + 1 + std::string("assistant ").size());
}

TEST_F(ChatRoutes, TheModelReadsTheTextOfTheTemplate) {
  json messages = json::array();
  std::vector<data::ChatMessage> same;
  for (const char* role : {"system", "user", "assistant", "user"}) {
    messages.push_back({{"role", role}, {"content", "abc"}});
    same.push_back({role, "abc"});
  }
  const std::string text = models_.get()->language_models().front().chat->text_of(same);
  decoding::GenerationOptions options;
  options.max_tokens = 20;
  options.search.sampling = {.temperature = 1.0, .seed = 5};
  const decoding::GenerationRequest request{.prompt_ids = generator().vocabulary().encode(text)};
  const std::string expected = generator().generate({&request, 1}, options).front().text;
  json body = kAsked;
  body["messages"] = messages;
  EXPECT_EQ(chat(body)["choices"][0]["message"]["content"], expected);
  body["messages"][0]["role"] = "developer";
  body["messages"][1]["content"] = json::array({{{"type", "text"}, {"text", "a"}}, {{"type", "text"}, {"text", "bc"}}});
  EXPECT_EQ(chat(body)["choices"][0]["message"]["content"], expected);
}

TEST_F(ChatRoutes, AStreamIsTheWholeAnswerInPieces) {
  json body = kAsked;
  body["n"] = 3;
  body["logprobs"] = true;
  body["top_logprobs"] = 2;
  const json whole = chat(body);
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const Reply reply = ask(body);
  EXPECT_EQ(reply.content_type, "text/event-stream");
  std::vector<std::string> texts(3);
  std::vector<json> tokens(3, json::array()), reasons(3);
  json usage;
  std::string rest = reply.body;
  for (size_t end = rest.find("\n\n"); end != std::string::npos; end = rest.find("\n\n")) {
    const std::string data = rest.substr(6, end - 6);
    rest.erase(0, end + 2);
    if (data == "[DONE]") {
      break;
    }
    const json event = json::parse(data);
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    usage = event["usage"];
    for (const json& choice : event["choices"]) {
      const auto part = choice["index"].get<size_t>();
      const json& delta = choice["delta"];
      const bool is_first = delta.contains("role");
      EXPECT_EQ(is_first, delta.contains("content") && texts[part].empty() && delta["content"] == "") << event;
      texts[part] += delta.value("content", "");
      if (choice["logprobs"].is_object()) {
        for (const json& token : choice["logprobs"]["content"]) {
          tokens[part].push_back(token);
        }
      }
      reasons[part] = choice["finish_reason"];
    }
  }
  EXPECT_TRUE(rest.empty()) << rest;
  EXPECT_EQ(usage, whole["usage"]);
  for (size_t part = 0; part < 3; ++part) {
    const json& choice = whole["choices"][part];
    EXPECT_EQ(texts[part], choice["message"]["content"]);
    EXPECT_EQ(reasons[part], choice["finish_reason"]);
    EXPECT_EQ(tokens[part], choice["logprobs"]["content"]);
    std::string joined;
    for (const json& token : choice["logprobs"]["content"]) {
      joined += token["token"].get<std::string>();
      EXPECT_EQ(token["top_logprobs"].size(), 2U);
      EXPECT_LE(token["logprob"].get<double>(), 0.0);
      EXPECT_EQ(token["bytes"].size(), token["token"].get<std::string>().size());
    }
    EXPECT_EQ(joined, choice["message"]["content"]);
  }
}

TEST_F(ChatRoutes, StopStringsAndTheLengthEndAMessage) {
  const std::string text = chat(kAsked)["choices"][0]["message"]["content"].get<std::string>();
  ASSERT_GE(text.size(), 6U);
  json body = kAsked;
  body["stop"] = text.substr(4, 2);
  const json stopped = chat(body)["choices"][0];
  EXPECT_EQ(stopped["message"]["content"], text.substr(0, text.find(text.substr(4, 2))));
  EXPECT_EQ(stopped["finish_reason"], "stop");
  body = kAsked;
  body["max_completion_tokens"] = 3;
  const json cut = chat(body)["choices"][0];
  EXPECT_EQ(cut["message"]["content"], text.substr(0, 3));
  EXPECT_EQ(cut["finish_reason"], "length");
}

TEST_F(ChatRoutes, WithoutATemplateOrWithAStrangeOneASentenceSaysSo) {
  expect_refused({{"model", "silent"}}, "model", "no chat template; write the conversation as one text");
  expect_refused({{"model", "strange"}}, "model", "filter \"batch\" is not supported; write the conversation");
  json body = kAsked;
  body["model"] = "nobody";
  EXPECT_EQ(chat(body, 404)["error"]["code"], "model_not_found");
}

TEST_F(ChatRoutes, WrongMessagesAreRefusedByTheirPlace) {
  const auto message = [](const json& role, const json& content) { return json{{"role", role}, {"content", content}}; };
  const auto messages = [](const json& one) { return json{{"messages", json::array({one})}}; };
  expect_refused({{"messages", nullptr}}, "messages", "must be a list of 1 to 2048 messages");
  expect_refused({{"messages", json::array()}}, "messages", "a list of 0");
  expect_refused({{"messages", "hello"}}, "messages", "a text, must be a list");
  expect_refused({{"messages", std::vector<json>(2049, message("user", "a"))}}, "messages", "a list of 2049");
  expect_refused(messages("hello"), "messages", "messages[0] is a text, must be an object");
  expect_refused(messages(message("bot", "a")), "messages", "messages[0].role is \"bot\", must be system");
  expect_refused(messages(message("tool", "a")), "messages", "\"tool\", must be system");
  expect_refused(messages(message(1, "a")), "messages[0].role", "must be a text");
  expect_refused(messages(message("user", 1)), "messages", "messages[0].content is 1, must be a text");
  expect_refused(messages(message("user", nullptr)), "messages", "content is null");
  expect_refused(messages(message("user", json::array({{{"type", "image_url"}, {"image_url", {{"url", "x"}}}}}))),
                 "messages", "a part that is no text");
  expect_refused(messages({{"role", "user"}, {"content", "a"}, {"mood", "bad"}}), "messages[0].mood", "Unrecognized");
  expect_refused(messages({{"role", "assistant"}, {"content", "a"}, {"tool_calls", {1}}}), "messages[0].tool_calls",
                 "not supported");
  expect_refused(messages(message("user", std::string(6000, 'a'))), "messages", "6000 characters, at most 5000");
  expect_refused(messages(message("user", std::string(200, 'a'))), "messages", "leave out old messages");
  expect_refused(messages(message("user", "\u4e2d")), "messages", "U+4E2D");
  expect_refused(messages(message("user", "please refuse")), "messages",
                 "the template refuses the conversation: no such talk");
}

TEST_F(ChatRoutes, WhatIsNotSupportedIsRefusedByName) {
  const json tool = {{"type", "function"}, {"function", {{"name", "f"}}}};
  expect_refused({{"tools", json::array({tool})}}, "tools", "not supported");
  expect_refused({{"tool_choice", "required"}}, "tool_choice", "not supported");
  expect_refused({{"response_format", {{"type", "json_object"}}}}, "response_format", "not supported");
  expect_refused({{"modalities", {"text", "audio"}}}, "modalities", "not supported");
  expect_refused({{"presence_penalty", 1}}, "presence_penalty", "not supported");
  expect_refused({{"prompt", "a"}}, "prompt", "Unrecognized request argument");
  expect_refused({{"echo", true}}, "echo", "Unrecognized request argument");
  expect_refused({{"max_tokens", 0}}, "max_tokens", "must be a whole number from 1");
  expect_refused({{"logprobs", 3}}, "logprobs", "must be true or false");
  expect_refused({{"top_logprobs", 3}}, "top_logprobs", "needs \"logprobs\": true");
  expect_refused({{"top_logprobs", 30}, {"logprobs", true}}, "top_logprobs", "from 0 to 20");
  json body = kAsked;
  body.update({{"tools", json::array()},
               {"tool_choice", "auto"},
               {"response_format", {{"type", "text"}}},
               {"presence_penalty", 0},
               {"parallel_tool_calls", true},
               {"user", "me"},
               {"temperature", nullptr}});
  EXPECT_EQ(chat(body)["choices"], chat(kAsked)["choices"]);
}

// Bodies with changed bytes: each is read or refused with 400.
TEST_F(ChatRoutes, AnyBodyIsReadOrRefused) {
  const std::string good =
      R"({"model":"tiny","messages":[{"role":"user","content":"a"},{"role":"system","content":[{"type":)"
      R"("text","text":"b"}]}],"n":2,"stop":["x"],"logprobs":true,"top_logprobs":3,"stream":false})";
  base::Random random(3, 0);
  size_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    const int changes = 1 + static_cast<int>(random.uniform() * 3);
    for (int change = 0; change < changes; ++change) {
      const auto at = static_cast<size_t>(random.uniform() * static_cast<double>(bytes.size()));
      if (random.uniform() < 0.3) {
        bytes.erase(at, 1 + static_cast<size_t>(random.uniform() * 8));
      } else {
        bytes[at] = static_cast<char>(random.uniform() * 256.0);
      }
    }
    try {
      const CompletionRequest asked = chat_request(post("/v1/chat/completions", "application/json", bytes), {});
      asked.options.check();
      EXPECT_TRUE(asked.max_tokens >= 1 && asked.n >= 1 && !asked.messages.empty()) << bytes;
      ++taken;
    } catch (const HttpError& error) {
      EXPECT_EQ(error.status(), 400) << bytes;
    }
  }
  EXPECT_GT(taken, 50U);
}

}  // namespace
}  // namespace dragoman::serving
