// The server as a thread of the test: what every answer carries, whoever makes it.
#include "serving/http/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "serving/http/router.h"
#include "support/http_client.h"
#include "support/wait_until.h"

namespace dragoman::serving {
namespace {

using namespace std::chrono_literals;
using test_support::HttpAnswer;
using test_support::HttpClient;

// Answers /answered, and never answers any other path.
class Server {
 public:
  explicit Server(const HttpLimits& limits)
      : server_({.port = 0}, limits,
                {.handle =
                     [](const std::shared_ptr<HttpExchange>& exchange) {
                       if (exchange->request().path == "/answered") {
                         exchange->reply({.body = std::string(exchange->request().header("Host"))});
                       }
                     },
                 .headers = headers_of_every_answer(OtherOrigins::kAllowed)}),
        thread_([this] { server_.run([] {}, [] {}); }) {}
  ~Server() {
    server_.stop();
    thread_.join();
  }
  HttpClient connect() const { return HttpClient(server_.port()); }
  size_t open() const { return server_.counts().open; }

 private:
  HttpServer server_;
  std::thread thread_;
};

TEST(HttpServer, EveryAnswerCarriesTheHeadersOfTheServer) {
  HttpLimits limits;
  limits.head_time = 300ms;
  const Server server(limits);
  const std::string start = "POST /answered HTTP/1.1\r\nHost: a\r\n";
  const std::vector<std::pair<int, std::string>> cases = {
      {200, start + "Content-Length: 0\r\n\r\n"},
      {500, "GET /unanswered HTTP/1.1\r\nHost: a\r\n\r\n"},
      {400, "nonsense\r\n\r\n"},
      {400, start + "Transfer-Encoding: chunked\r\n\r\nnonsense\r\n"},
      {408, "POST /answered HTTP/1.1\r\n"},
      {413, start + "Content-Length: 2000000\r\n\r\n"},
      {414, "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"},
      {415, start + "Content-Encoding: gzip\r\n\r\n"},
      {417, start + "Expect: foo\r\n\r\n"},
      {431, start + "X: " + std::string(20000, 'a') + "\r\n\r\n"},
      {505, "GET / HTTP/2.0\r\n\r\n"},
  };
  for (const auto& [status, bytes] : cases) {
    HttpClient client = server.connect();
    client.send(bytes);
    const HttpAnswer answer = client.receive();
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(HttpClient::header(answer.head, "access-control-allow-origin"), "*") << status;
  }
}

TEST(HttpServer, AConnectionThatIsTurnedAwayIsToldWithTheHeadersOfTheServer) {
  HttpLimits limits;
  limits.connections = 1;
  const Server server(limits);
  const HttpClient first = server.connect();
  ASSERT_TRUE(test_support::wait_until([&] { return server.open() == 1; }));
  HttpClient second = server.connect();
  const HttpAnswer answer = second.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(HttpClient::header(answer.head, "access-control-allow-origin"), "*");
}

TEST(HttpServer, ServesAbsoluteTargetsAndRequestsBehindEmptyLines) {
  const Server server(HttpLimits{});
  HttpClient client = server.connect();
  client.send("GET http://b:1/answered HTTP/1.1\r\nHost: a\r\n\r\n\r\n");
  EXPECT_EQ(client.receive().body, "b:1");
  client.send("\r\nGET /answered HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.receive().body, "a");
}

// Otherwise a client could hold a connection for ever with two bytes now and then.
TEST(HttpServer, EmptyLinesDoNotLengthenTheTimeOfAnIdleConnection) {
  HttpLimits limits;
  limits.idle_time = 300ms;
  const Server server(limits);
  HttpClient client = server.connect();
  EXPECT_EQ(client.ask("GET", "/answered").status, 200);
  const auto begin = std::chrono::steady_clock::now();
  while (client.send("\r\n") && std::chrono::steady_clock::now() - begin < 10s) {
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

}  // namespace
}  // namespace dragoman::serving
