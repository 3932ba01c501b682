// The server as a program when memory is refused: the k-th time, for k = 1, 2, 3, ... until no fault fires.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/running_server.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::HttpAnswer;
using test_support::RunningServer;

class ServeFault : public testing::TestWithParam<bool> {
 protected:
  ServeFault() { test_support::write_tiny_model(folder_.path() / "model"); }

  static std::string request(const std::string& text) {
    return json({{"q", text}, {"source", "en"}, {"target", "de"}}).dump();
  }
  // The requests of one trial: long enough that the workers need more memory than their first translation did.
  static std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (int i = 0; i < 12; ++i) {
      std::string text;
      for (int line = 0; line < 40; ++line) {
        text += fmt::format("the cat runs and the dog sleeps and the mouse runs {}\n", 40 * i + line);
      }
      all.push_back(text);
    }
    return all;
  }
  static std::vector<HttpAnswer> ask_at_once(const RunningServer& server) {
    const std::vector<std::string> asked = texts();
    std::vector<HttpAnswer> answers(asked.size() + 1);
    std::vector<std::thread> clients;
    for (size_t i = 0; i < asked.size(); ++i) {
      clients.emplace_back([&, i] { answers[i] = server.post("/translate", request(asked[i])); });
    }
    clients.emplace_back([&] { answers.back() = server.post("/v1/inspect", R"({"text": "the cat runs"})"); });
    for (std::thread& client : clients) {
      client.join();
    }
    return answers;
  }
  const std::vector<std::string> more_ = {"--longest-wait", "60",    "--workers",    "2",
                                          "--batch-tokens", "50000", "--min-length", "8"};
  test_support::TemporaryFolder folder_;
};

// GetParam(): the memory is refused from then on, not once.
TEST_P(ServeFault, RefusedMemoryFailsItsRequestsAlone) {
  std::vector<HttpAnswer> expected;
  {
    RunningServer server(folder_.path(), more_);
    expected = ask_at_once(server);
    EXPECT_EQ(server.end(), 0);
  }
  int k = 0, failed_starts = 0, failed_requests = 0;
  for (bool fired = true; fired; ++k) {
    ASSERT_LT(k, 1000);
    const std::filesystem::path log = folder_.path() / fmt::format("fired{}", k);
    const std::map<std::string, std::string> fault = {{"LD_PRELOAD", DRAGOMAN_FAIL_IO},
                                                      {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"},
                                                      {"FAIL_IO_CALL", "mmap"},
                                                      {"FAIL_IO_AT", std::to_string(k + 1)},
                                                      {"FAIL_IO_ERRNO", "12"},
                                                      {"FAIL_IO_LOG", log.string()},
                                                      {"FAIL_IO_KEEP", GetParam() ? "1" : "0"}};
    RunningServer server(folder_.path(), more_, fault, DRAGOMAN_PROGRAM, RunningServer::MayFail::kYes);
    if (server.port() == 0) {
      EXPECT_EQ(server.program().wait(), 1) << k << ": " << server.program().errors();
      EXPECT_THAT(server.program().errors(), testing::HasSubstr("the system refused")) << k;
      ++failed_starts;
      continue;
    }
    const std::vector<HttpAnswer> answers = ask_at_once(server);
    fired = std::filesystem::exists(log);
    int failed = 0;
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_THAT(answers[i].status, testing::AnyOf(200, 500)) << k << ": " << i;
      failed += answers[i].status == 500 ? 1 : 0;
      EXPECT_EQ(answers[i].body, answers[i].status == 200 ? expected[i].body : "{\"error\":\"internal error\"}\n") << k;
    }
    failed_requests += failed;
    EXPECT_EQ(server.get("/health").status, 200) << k;
    if (!GetParam()) {
      // Fired and nobody failed: sentences refused together are tried again alone.
      EXPECT_TRUE(failed == 0 || fired) << k << ": " << failed << " failed without a fault";
    }
    if (!GetParam() && fired) {  // else it is still to come: how often memory is asked for depends on who comes first
      const std::vector<HttpAnswer> next = ask_at_once(server);
      for (size_t i = 0; i < next.size(); ++i) {
        EXPECT_EQ(next[i].body, expected[i].body) << k << ": after the fault";
      }
      EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 0.0; })) << k;
      EXPECT_EQ(server.metric("dragoman_queue_tokens"), 0.0) << k;
    }
    EXPECT_EQ(server.end(), 0) << k << ": " << server.program().errors();
  }
  EXPECT_GT(failed_starts, 0);
  EXPECT_GT(failed_requests, 0) << "no fault hit a request in " << k << " trials";
}

INSTANTIATE_TEST_SUITE_P(OnceOrForEver, ServeFault, testing::Bool(),
                         [](const auto& parameter) { return std::string(parameter.param ? "ForEver" : "Once"); });

}  // namespace
}  // namespace dragoman
