// The server of language models as a program: answers equal to `generate` and to themselves under cancels, drain,
// reload.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/random.h"
#include "support/program.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test_support::HttpAnswer;
using test_support::HttpClient;
using test_support::RunningServer;

const std::vector<std::string> kModel = {"--model", "letters"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kModel.begin(), kModel.end());
  return more;
}

json request(const std::string& prompt, int max_tokens, int seed) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"seed", seed}};
}

std::string text_of(const HttpAnswer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  const json body = json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  return body.is_object() && body.contains("choices") ? body["choices"][0]["text"].get<std::string>() : "";
}

void send_post(const HttpClient& client, const std::string& body) {
  client.send(
      fmt::format("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
                  "{}\r\n\r\n{}",
                  body.size(), body));
}

class ServeCompletions : public testing::Test {
 protected:
  ServeCompletions() { test_support::write_tiny_language_model(program_.folder() / "letters", 1, 4000); }

  test_support::Program program_;
};

TEST_F(ServeCompletions, AnswersAreThoseOfGenerate) {
  RunningServer server(program_.folder(), kModel);
  for (const char* prompt : {"the cat", "dog", "zz."}) {
    const auto outcome = program_.run(
        fmt::format("generate --model letters --json --max-tokens 40 --seed 5 --temperature 0.9 --top-p 0.8 --top-k 9 "
                    "--prompt '{}'",
                    prompt));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    json body = request(prompt, 40, 5);
    body.update({{"temperature", 0.9}, {"top_p", 0.8}, {"top_k", 9}});
    EXPECT_EQ(text_of(server.post("/v1/completions", body.dump())), json::parse(outcome.out)["text"]);
  }
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeCompletions, EveryTextIsTheOneAloneUnderRandomCancels) {
  RunningServer server(program_.folder(), with({"--longest-wait", "60"}));
  std::vector<std::string> bodies, alone;
  for (int i = 0; i < 60; ++i) {
    bodies.push_back(request(fmt::format("cat {}", std::string(static_cast<size_t>(i % 9), 'a')), 8 + i, i).dump());
    alone.push_back(text_of(server.post("/v1/completions", bodies.back())));
  }
  std::atomic<size_t> next{0}, right{0}, cancelled{0};
  std::vector<std::thread> clients;
  constexpr size_t kRequests = 400;
  for (size_t number = 0; number < 16; ++number) {
    clients.emplace_back([&, number] {
      base::Random random(number);
      auto client = std::make_unique<HttpClient>(server.port());
      for (size_t i = next++; i < kRequests; i = next++) {
        const size_t which = i % bodies.size();
        if (random.below(5) == 0) {  // asks for a long stream, and goes before its end
          json body = json::parse(bodies[which]);
          body.update({{"max_tokens", 3000}, {"stream", random.below(2) == 0}});
          send_post(*client, body.dump());
          std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));  // a random moment of its work
          client = std::make_unique<HttpClient>(server.port());
          ++cancelled;
        }
        HttpAnswer answer;
        do {
          answer = client->ask("POST", "/v1/completions", bodies[which]);
        } while (answer.status == 503);
        right += text_of(answer) == alone[which] ? 1U : 0U;
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(right, kRequests);
  EXPECT_GT(cancelled, 20U);
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 0.0; }));
  EXPECT_EQ(server.metric("dragoman_queue_tokens"), 0.0);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeCompletions, TermLetsAStreamFinish) {
  test_support::write_tiny_language_model(program_.folder() / "letters", 1, 4000, decoding::letters().with_special({}));
  RunningServer server(program_.folder(), kModel);
  json body = request("the cat", 3000, 1);
  const std::string whole = text_of(server.post("/v1/completions", body.dump()));
  body["stream"] = true;
  HttpClient client = server.connect();  // only now: a connection that asks nothing is closed after five seconds
  send_post(client, body.dump());
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 1.0; }));
  server.program().send(SIGTERM);
  const HttpAnswer answer = client.receive();
  EXPECT_THAT(answer.body, testing::EndsWith("data: [DONE]\n\n"));
  std::string joined;
  std::istringstream lines(answer.body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("data: {")) {
      joined += json::parse(line.substr(6))["choices"][0]["text"].get<std::string>();
    }
  }
  EXPECT_EQ(joined, whole);
  EXPECT_EQ(server.program().wait(), 0);
}

TEST_F(ServeCompletions, HupLoadsTheNewModelButNoOtherKind) {
  RunningServer server(program_.folder(), kModel);
  const auto answer = [&] { return text_of(server.post("/v1/completions", request("the cat", 30, 1).dump())); };
  const std::string old_answer = answer();
  test_support::write_tiny_language_model(program_.folder() / "letters", 2, 4000);
  server.program().send(SIGHUP);
  EXPECT_TRUE(test_support::wait_until([&] { return answer() != old_answer; })) << server.program().errors();
  const std::string new_answer = answer();
  test_support::write_tiny_model(program_.folder() / "letters");
  server.program().send(SIGHUP);
  EXPECT_TRUE(
      test_support::wait_until([&] { return server.program().errors().find("not reloaded") != std::string::npos; }));
  EXPECT_EQ(answer(), new_answer);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeCompletions, OneServerHasModelsOfBothKinds) {
  test_support::write_tiny_model(program_.folder() / "model");
  RunningServer server(program_.folder(), with({"--model", "en:de=model", "--beam-size", "2"}));
  EXPECT_EQ(server.translate(), 200);
  text_of(server.post("/v1/completions", request("the cat", 9, 1).dump()));
  EXPECT_EQ(json::parse(server.get("/v1/models").body)["data"][0]["id"], "letters");
  EXPECT_THAT(server.get("/").body, testing::HasSubstr("/assets/"));
  const json settings = json::parse(server.get("/frontend/settings").body);
  EXPECT_EQ(settings["languageModels"][0]["id"], "letters");
  EXPECT_EQ(settings["language"]["target"]["code"], "de");
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeCompletions, ThePageAndTheCardAreThereWithoutAModelThatTranslates) {
  RunningServer server(program_.folder(), kModel);
  EXPECT_THAT(server.get("/").body, testing::HasSubstr("/assets/"));
  EXPECT_EQ(json::parse(server.get("/frontend/settings").body)["languageModels"].size(), 1U);
  const auto get = [&](const char* path) { return server.connect().ask("GET", path, "", ""); };
  const json card = json::parse(get("/v1/model?model=letters").body);
  EXPECT_EQ(card["name"], "letters");
  EXPECT_EQ(card["config"]["architecture"], "decoder-only");
  EXPECT_EQ(json::parse(get("/v1/model").body), card);
  EXPECT_EQ(get("/v1/model?model=other").status, 404);
  EXPECT_EQ(get("/v1/model?source=en&target=de").status, 404);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeCompletions, WrongStartsAreToldAndEndInTheirStatus) {
  const auto start = [&](const std::string& words) { return program_.run("serve --port 0 " + words); };
  expect_failure(start("--model en:de=letters"), 2, {"holds a language model", "--model letters"});
  expect_failure(start("--model letters --model letters/"), 2, {"named letters"});
  expect_failure(start("--model letters --beam-size 4"), 2, {"--beam-size", "models that translate"});
}

}  // namespace
}  // namespace dragoman
