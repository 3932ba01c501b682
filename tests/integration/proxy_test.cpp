// Two servers behind HAProxy, with the configuration of packaging/haproxy: no request is lost while they are replaced.
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/free_port.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::BackgroundProgram;
using test_support::HttpAnswer;
using test_support::HttpClient;
using test_support::RunningServer;
using test_support::wait_until;

constexpr int kClients = 4;
constexpr int kRounds = 3;

std::string local(uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

class Proxy : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(DRAGOMAN_HAPROXY).empty()) {
      GTEST_SKIP() << "haproxy is not installed";
    }
    test_support::write_tiny_model(program_.folder() / "model");
    for (const uint16_t port : ports_) {
      servers_.push_back(start(port));
    }
    proxy_ = std::make_unique<BackgroundProgram>(
        program_.folder(), std::vector<std::string>{"-db", "-f", DRAGOMAN_SOURCE "/packaging/haproxy/haproxy.cfg"},
        std::map<std::string, std::string>{{"DRAGOMAN_BIND", local(front_)},
                                           {"DRAGOMAN_SERVER_A", local(ports_[0])},
                                           {"DRAGOMAN_SERVER_B", local(ports_[1])},
                                           {"DRAGOMAN_STATUS", local(status_)}},
        DRAGOMAN_HAPROXY);
    ASSERT_TRUE(wait_until([&] { return is_up("a") && is_up("b"); })) << proxy_->errors();
  }

  std::unique_ptr<RunningServer> start(uint16_t port) const {
    return std::make_unique<RunningServer>(program_.folder(), std::vector<std::string>{"--port", std::to_string(port)});
  }

  // Whether the proxy sends requests to a server.
  bool is_up(const std::string& server) const {
    HttpClient client(status_);
    const std::string table = client.ask("GET", "/;csv").body;
    const size_t line = table.find("\nservers," + server + ",");
    return line != std::string::npos &&
           table.substr(line + 1, table.find('\n', line + 1) - line).find(",UP,") != std::string::npos;
  }

  test_support::Program program_;
  std::vector<uint16_t> ports_ = {test_support::free_port(), test_support::free_port()};
  uint16_t front_ = test_support::free_port();
  uint16_t status_ = test_support::free_port();
  std::vector<std::unique_ptr<RunningServer>> servers_;
  std::unique_ptr<BackgroundProgram> proxy_;
};

TEST_F(Proxy, ARollingRestartLosesNoRequest) {
  const std::string body = R"({"q":"the cat runs","source":"en","target":"de"})";
  const std::string expected = json::parse(servers_[0]->post("/translate", body).body)["translatedText"];
  std::atomic<bool> stop{false};
  std::atomic<int> right{0}, wrong{0};
  std::vector<std::thread> clients;
  for (int number = 0; number < kClients; ++number) {
    clients.emplace_back([&, number] {
      auto client = std::make_unique<HttpClient>(front_);
      for (int i = 0; !stop; ++i) {
        const HttpAnswer answer = client->ask("POST", "/translate", body);
        const bool is_right = answer.status == 200 && json::parse(answer.body)["translatedText"] == expected;
        ++(is_right ? right : wrong);
        if (i % 20 == number || HttpClient::header(answer.head, "connection") == "close") {
          client = std::make_unique<HttpClient>(front_);
        }
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    for (size_t place = 0; place < servers_.size(); ++place) {
      EXPECT_EQ(servers_[place]->end(), 0);
      servers_[place] = start(ports_[place]);
      EXPECT_TRUE(wait_until([&] { return is_up(place == 0 ? "a" : "b"); })) << proxy_->errors();
    }
  }
  stop = true;
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(wrong, 0) << "of " << right + wrong;
  EXPECT_GT(right, 100);
}

TEST_F(Proxy, AKilledServerIsNoticedAndItsRequestsGoToTheOther) {
  const std::string body = R"({"q":"the cat runs","source":"en","target":"de"})";
  servers_[0]->program().send(SIGKILL);
  servers_[0]->program().wait();
  HttpClient client(front_);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client.ask("POST", "/translate", body).status, 200);
  }
  EXPECT_TRUE(wait_until([&] { return !is_up("a"); }));
  EXPECT_TRUE(is_up("b"));
}

}  // namespace
}  // namespace dragoman
