// The server of language models against clients that break rules: floods, half requests, streams that nobody reads,
// and against a model that computes no numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "data/chat/chat_template.h"
#include "support/growth_of_memory.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test_support::HttpAnswer;
using test_support::HttpClient;
using test_support::RunningServer;

const std::vector<std::string> kModel = {"--model", "letters"};
constexpr int64_t kContext = 2000;

// Writes the tiny language model with a chat template. @param largest  of the absolute values of its output weights; 0:
// as they are
void write_model(const std::filesystem::path& folder, float largest = 0.0F) {
  const auto model = decoding::tiny_language_model(1, kContext);
  models::ModelFiles files{.config = models::to_json(model->config()),
                           .tensors = models::named_tensors(model->parameters()),
                           .vocabularies = {{"tokenizer.json", decoding::letters().with_special({}).bytes()}}};
  for (float& value : files.tensors.at("output.weight").span<float>()) {
    value = largest == 0.0F ? value : std::copysign(largest, value);
  }
  files.chat =
      data::chat_file_json({"{% for m in messages %}{{ m.role }} {{ m.content }}\n{% endfor %}assistant ", {}});
  models::publish_model_folder(folder, files);
}

int complete(const RunningServer& server) {
  return server.post("/v1/completions", R"({"prompt": "the cat", "max_tokens": 5, "seed": 1})").status;
}

std::string head_of(const std::string& path, size_t length) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                     path, length);
}

class ServeCompletionsAbuse : public testing::Test {
 protected:
  ServeCompletionsAbuse() { write_model(folder_.path() / "letters"); }
  test_support::TemporaryFolder folder_;
};

// Bodies that cost much to read or would cost much to answer, each refused.
void flood(const RunningServer& server) {
  const std::string letters(900'000, 'a');
  std::string messages;
  while (messages.size() < 900'000) {
    messages += R"({"role":"user","content":"a"},)";
  }
  std::string numbers = "1";
  while (numbers.size() < 900'000) {
    numbers += ",1";
  }
  const std::vector<std::pair<std::string, std::string>> bodies = {
      {"/v1/completions", R"({"prompt": ")" + letters + "\"}"},
      {"/v1/completions", R"({"prompt": [)" + numbers + "]}"},
      {"/v1/completions", R"({"prompt": "a", "stop": [")" + letters + "\"]}"},
      {"/v1/completions", R"({"prompt": "a", ")" + letters + "\": 1}"},
      {"/v1/completions", std::string(450'000, '[') + std::string(450'000, ']')},
      {"/v1/chat/completions", R"({"messages": [)" + messages + R"({"role":"user","content":"a"}]})"},
      {"/v1/chat/completions", R"({"messages": [{"role":"user","content":")" + letters + "\"}]}"},
      {"/v1/chat/completions", R"({"messages": [{"role":")" + letters + R"(","content":"a"}]})"}};
  for (const auto& [path, body] : bodies) {
    const HttpAnswer answer = server.post(path, body);
    EXPECT_EQ(answer.status, 400) << path << " " << body.substr(0, 60);
    EXPECT_LT(answer.body.size(), 1000U) << "an error repeats little of what was sent";
  }
  EXPECT_EQ(server.post("/v1/chat/completions", std::string(2'000'000, ' ')).status, 413);
  EXPECT_EQ(complete(server), 200);
}

TEST_F(ServeCompletionsAbuse, FloodsAreRefusedAndMemoryStays) {
  RunningServer server(folder_.path(), {"--model", "letters", "--workers", "1"});
  const pid_t process = server.program().id();
  const auto flood_it = [&] { flood(server); };
  const int64_t growth = test_support::growth_of_memory(process, 128, flood_it);
  EXPECT_LE(growth, 128) << "KiB more after four further floods";
  EXPECT_EQ(server.metric("dragoman_requests_in_flight"), 0.0);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeCompletionsAbuse, HalfRequestsAndClosedStreamsLeaveNothing) {
  RunningServer server(folder_.path(), kModel);
  const std::string body = R"({"prompt": "the cat", "max_tokens": 1900, "n": 4, "stream": true})";
  for (int i = 0; i < 40; ++i) {
    HttpClient client = server.connect();
    const std::string request = head_of(i % 2 == 0 ? "/v1/completions" : "/v1/chat/completions", body.size()) + body;
    client.send(request.substr(0, request.size() * static_cast<size_t>(i) / 40));
  }
  for (int i = 0; i < 40; ++i) {  // streams whose clients go at once
    HttpClient client = server.connect();
    client.send(head_of("/v1/completions", body.size()) + body);
  }
  // The last streams may not have been read yet while none is in flight.
  EXPECT_TRUE(test_support::wait_until([&] {
    return server.metric("dragoman_requests_in_flight") == 0.0 && server.metric("dragoman_queue_tokens") == 0.0;
  }));
  EXPECT_EQ(complete(server), 200);
  EXPECT_EQ(server.end(), 0);
}

// A stream that its client never reads fills the buffers of the system. The writing then waits and is given up.
TEST_F(ServeCompletionsAbuse, StreamsThatNobodyReadsDisturbNobody) {
  RunningServer server(folder_.path(), {"--model", "letters", "--longest-wait", "120"});
  const std::string body =
      json{{"prompt", "the cat"}, {"max_tokens", 1900}, {"n", 64}, {"logprobs", 20}, {"stream", true}}.dump();
  std::vector<HttpClient> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(server.connect());
    readers.back().send(head_of("/v1/completions", body.size()) + body);
  }
  for (int good = 0; good < 20; ++good) {
    ASSERT_EQ(complete(server), 200);
  }
  readers.clear();
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 0.0; }));
  EXPECT_EQ(server.end(), 0);
}

// Weights so large that logits are infinity, or infinity less infinity: each request gets an error, and the server
// lives.
TEST_F(ServeCompletionsAbuse, AModelWithoutNumbersIsAnErrorOfItsRequests) {
  write_model(folder_.path() / "huge", 3e38F);
  RunningServer server(folder_.path(), {"--model", "huge", "--model", "letters"}, {}, DRAGOMAN_PROGRAM,
                       RunningServer::MayFail::kYes);
  if (server.port() == 0) {  // the warm-up found it
    EXPECT_NE(server.program().wait(), 0);
    EXPECT_THAT(server.program().errors(), testing::HasSubstr("must be finite"));
    return;
  }
  const HttpAnswer answer =
      server.post("/v1/completions", R"({"model": "huge", "prompt": "the cat", "max_tokens": 5})");
  EXPECT_EQ(answer.status, 500) << answer.body;
  EXPECT_EQ(server.post("/v1/completions", R"({"model": "letters", "prompt": "a", "max_tokens": 5})").status, 200);
  EXPECT_EQ(server.end(), 0);
}

}  // namespace
}  // namespace dragoman
