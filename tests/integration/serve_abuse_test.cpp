// The server as a program against clients that break rules: framing, floods, slowness, too many connections.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "serving/framing_cases.h"
#include "support/growth_of_memory.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

using namespace std::chrono_literals;
using test_support::HttpAnswer;
using test_support::HttpClient;
using test_support::RunningServer;

class ServeAbuse : public testing::Test {
 protected:
  ServeAbuse() { test_support::write_tiny_model(folder_.path() / "model"); }
  test_support::TemporaryFolder folder_;
};

TEST_F(ServeAbuse, BadFramingIsAnsweredOnceAndTheConnectionClosed) {
  RunningServer server(folder_.path());
  for (const serving::FramingCase& one : serving::framing_cases()) {
    HttpClient client = server.connect();
    client.send(one.bytes);
    EXPECT_EQ(client.receive().status, one.status) << one.what;
    EXPECT_TRUE(client.is_closed()) << one.what << ": more than one answer, or still open";
    EXPECT_EQ(server.translate(), 200) << "after " << one.what;
  }
  EXPECT_EQ(server.end(), 0);
}

// Requests that are larger than a server takes, each refused.
void flood(const RunningServer& server) {
  const std::string start = "POST /translate HTTP/1.1\r\nHost: a\r\n";
  {
    HttpClient client = server.connect();
    client.send(start + "Transfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "10000\r\n" + std::string(0x10000, 'a') + "\r\n";
    for (int i = 0; i < 1024 && client.send(chunk); ++i) {  // 64 MiB
    }
    EXPECT_EQ(client.receive().status, 413);
  }
  {
    HttpClient client = server.connect();
    client.send(start);
    std::string fields;
    for (int i = 0; i < 1000; ++i) {
      fields += fmt::format("X-{}: y\r\n", i);
    }
    for (int i = 0; i < 200 && client.send(fields); ++i) {
    }
    EXPECT_EQ(client.receive().status, 431);
  }
  {
    HttpClient client = server.connect();
    client.send("GET /" + std::string(100'000, 'a'));
    EXPECT_THAT(client.receive().status, testing::AnyOf(414, 431));
  }
  {
    HttpClient client = server.connect();
    client.send(start + "Content-Length: 67108864\r\n\r\n");
    EXPECT_EQ(client.receive().status, 413);
  }
  {
    HttpClient client = server.connect();
    client.send(start + "Content-Encoding: gzip\r\nContent-Length: 100000\r\n\r\n" + std::string(1000, '\x1F'));
    EXPECT_EQ(client.receive().status, 415);
  }
  EXPECT_EQ(server.translate(), 200);
}

TEST_F(ServeAbuse, FloodsAreCutAndMemoryStays) {
  const char* const asan = std::getenv("ASAN_OPTIONS");  // which must not keep what was freed
  // One worker: a second one takes some MiB with its first translation, and under load that may come at any time.
  RunningServer server(folder_.path(), {"--workers", "1"},
                       {{"ASAN_OPTIONS", fmt::format("{}:quarantine_size_mb=1", asan == nullptr ? "" : asan)}});
  const pid_t process = server.program().id();
  server.translate();
  const int64_t before = test_support::status_kib(process, "VmHWM");
  flood(server);  // from here on every thread has its heap
  const auto flood_it = [&] {
    flood(server);
    EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_connections") == 1.0; }));
  };
  const int64_t growth = test_support::growth_of_memory(process, 256, flood_it);
  RecordProperty("kib_more", std::to_string(growth));
  EXPECT_LE(growth, 256) << "KiB more after four further floods";
  EXPECT_LE(test_support::status_kib(process, "VmHWM") - before, 16 * 1024) << "KiB at the peak of floods of 64 MiB";
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeAbuse, SlowClientsDisturbNobodyAndAreClosed) {
  RunningServer server(folder_.path());
  std::vector<HttpClient> slow;
  for (int i = 0; i < 600; ++i) {
    slow.push_back(server.connect());
    ASSERT_TRUE(slow.back().is_connected());
    const std::string begun = i % 3 == 0   ? ""
                              : i % 3 == 1 ? "POST /translate HTTP/1.1\r\nHo"
                                           : "POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{";
    slow.back().send(begun);
  }
  const auto opened = std::chrono::steady_clock::now();
  std::vector<double> seconds;
  for (int good = 0; good < 200; ++good) {
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(server.translate(), 200);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(seconds);
  EXPECT_LT(seconds[197], 0.1) << "p99 of good requests beside 600 slow ones";
  EXPECT_GE(server.metric("dragoman_connections"), 500.0);
  const auto are_closed = [&] {
    for (HttpClient& client : slow) {
      client.send("x");  // a byte now and then keeps nobody in
    }
    return server.metric("dragoman_connections") <= 2.0;
  };
  // 10 s for a body, 2 s for reading why it is refused.
  EXPECT_TRUE(test_support::wait_until(are_closed, opened + 15s - std::chrono::steady_clock::now(), 100ms))
      << server.metric("dragoman_connections") << " connections after 15 s";
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeAbuse, TooManyConnectionsAreToldAndLaterServed) {
  RunningServer server(folder_.path(), {"--max-connections", "20"});
  {
    std::vector<HttpClient> many;
    for (int i = 0; i < 200; ++i) {
      many.push_back(server.connect());
    }
    const HttpAnswer answer = many.back().receive();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(HttpClient::header(answer.head, "retry-after"), "1");
  }
  EXPECT_TRUE(test_support::wait_until([&] { return server.translate() == 200; }));
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeAbuse, FewDescriptorsEndNothing) {
  // 40 files: less than the connections that come. The shell sets the limit, soft and hard.
  RunningServer server(folder_.path(), {}, {{"DRAGOMAN_PROGRAM", DRAGOMAN_PROGRAM}}, DRAGOMAN_FEW_FILES);
  {
    std::vector<HttpClient> many;
    for (int i = 0; i < 300; ++i) {
      many.push_back(server.connect());
    }
    EXPECT_EQ(many.back().receive().status, 503) << "the last of more connections than descriptors";
  }
  EXPECT_TRUE(test_support::wait_until([&] { return server.translate() == 200; }));
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeAbuse, PipelinedRequestsAreAnsweredInOrder) {
  RunningServer server(folder_.path());
  HttpClient client = server.connect();
  std::string requests;
  for (int i = 0; i < 20; ++i) {
    const std::string body = fmt::format(R"({{"q":"the cat {}","source":"de","target":"de"}})", i);
    requests += fmt::format(
        "POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        body.size(), body);
    requests += "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  client.send(requests);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(client.receive().body, testing::HasSubstr(fmt::format("\"the cat {}\"", i)));
    EXPECT_THAT(client.receive().body, testing::HasSubstr("\"ok\""));
  }
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeAbuse, ContinueIsSaidBeforeTheBody) {
  RunningServer server(folder_.path());
  HttpClient client = server.connect();
  const std::string body = R"({"q":"the cat","source":"en","target":"de"})";
  client.send(
      fmt::format("POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
                  "Content-Length: {}\r\n\r\n",
                  body.size()));
  EXPECT_EQ(client.receive().status, 100);
  client.send(body);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(server.end(), 0);
}

}  // namespace
}  // namespace dragoman
