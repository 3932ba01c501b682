// The server as a program: answers equal to the offline ones under cancels, overload, drain, reload.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

class Serve : public testing::Test {
 protected:
  Serve() { test_support::write_tiny_model(program_.folder() / "model"); }

  static std::string request(const std::string& text) {
    return json({{"q", text}, {"source", "en"}, {"target", "de"}}).dump();
  }
  // What `dragoman translate` answers.
  std::vector<std::string> offline(const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) {
      text += line + "\n";
    }
    program_.write("in", text);
    const auto outcome = program_.run("translate --model model --input in");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> answers;
    std::istringstream stream(outcome.out);
    for (std::string line; std::getline(stream, line);) {
      answers.push_back(line);
    }
    return answers;
  }
  static std::vector<std::string> distinct_lines(size_t count) {
    base::Random random(17);
    std::vector<std::string> lines;
    for (size_t i = 0; i < count; ++i) {
      lines.push_back(decoding::random_line(random, 3 + random.below(8)) + fmt::format(" cat {}", i));
    }
    return lines;
  }

  test_support::Program program_;
};

// Sends a request and does not wait for its answer.
void send_post(HttpClient& client, const std::string& path, const std::string& body) {
  client.send(
      fmt::format("POST {} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", path,
                  body.size(), body));
}

std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "the cat runs and the dog sleeps and the mouse\n";
  }
  return text;
}

TEST_F(Serve, EveryAnswerIsTheOfflineOneUnderRandomCancels) {
  RunningServer server(program_.folder(), {"--longest-wait", "60"});
  const std::vector<std::string> lines = distinct_lines(3000);
  const std::vector<std::string> expected = offline(lines);
  constexpr size_t kClients = 64;
  std::atomic<size_t> next{0}, right{0}, wrong{0}, lost{0}, cancelled{0};
  std::vector<std::thread> clients;
  for (size_t number = 0; number < kClients; ++number) {
    clients.emplace_back([&, number] {
      base::Random random(number);
      auto client = std::make_unique<HttpClient>(server.port());
      for (size_t i = next++; i < lines.size(); i = next++) {
        if (random.below(10) == 0) {  // asks, and goes before the answer is there
          client->send(
              fmt::format("POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                          "Content-Length: {}\r\n\r\n{}",
                          request(lines[i]).size(), request(lines[i])));
          // A random moment of its work, so no condition to wait for.
          std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
          client = std::make_unique<HttpClient>(server.port());
          ++cancelled;
        }
        HttpAnswer answer;
        do {
          answer = client->ask("POST", "/translate", request(lines[i]));
        } while (answer.status == 503);
        if (answer.status != 200) {
          ++lost;
          client = std::make_unique<HttpClient>(server.port());
        } else {
          ++(json::parse(answer.body)["translatedText"] == expected[i] ? right : wrong);
        }
        if (random.below(50) == 0) {
          client = std::make_unique<HttpClient>(server.port());
        }
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(right, lines.size()) << wrong << " wrong, " << lost << " lost, " << cancelled << " cancelled";
  EXPECT_GT(cancelled, 100U);
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 0.0; }));
  EXPECT_EQ(server.metric("dragoman_queue_tokens"), 0.0);
  EXPECT_EQ(server.end(), 0);
}

// So that even the first overload is refused by the speed.
TEST_F(Serve, TheSpeedIsKnownRoughlyAtOnce) {
  RunningServer server(program_.folder(), {});
  EXPECT_GT(server.metric("dragoman_tokens_per_second"), 100.0) << "measured with the first texts";
  EXPECT_EQ(server.end(), 0);
}

TEST_F(Serve, AClientThatGoesEndsItsWork) {
  RunningServer server(program_.folder(), {"--max-characters", "200000"});
  const std::string text = many_lines(3000);
  {
    HttpClient client = server.connect();
    send_post(client, "/translate", request(text));
    EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 1.0; }));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 0.0; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_EQ(server.metric("dragoman_cancelled_total"), 1.0);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(Serve, OverloadIsRefusedAtOnceAndPasses) {
  RunningServer server(program_.folder(), {"--longest-wait", "0.001", "--batch-tokens", "64", "--workers", "1"});
  std::atomic<int> good{0}, refused{0}, other{0};
  std::vector<std::thread> clients;
  for (int number = 0; number < 64; ++number) {
    clients.emplace_back([&] {
      HttpClient client = server.connect();
      for (int i = 0; i < 40; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const HttpAnswer answer =
            client.ask("POST", "/translate", request("the cat runs and the dog sleeps and the mouse"));
        ++(answer.status == 200 ? good : answer.status == 503 ? refused : other);
        if (answer.status == 503) {
          EXPECT_EQ(HttpClient::header(answer.head, "retry-after"), "1");
          EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
        }
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(other, 0);
  EXPECT_GT(good, 100);
  EXPECT_GT(refused, 100);
  EXPECT_EQ(server.translate(), 200);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(Serve, TermLetsRequestsUnderWayFinish) {
  RunningServer server(program_.folder(), {"--max-characters", "200000"});
  const std::string text = many_lines(1500);
  HttpClient busy = server.connect();
  HttpClient idle = server.connect();
  send_post(busy, "/translate", request(text));
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 1.0; }));
  server.program().send(SIGTERM);
  EXPECT_TRUE(idle.is_closed()) << "an idle connection is closed";
  const HttpAnswer answer = busy.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(HttpClient::header(answer.head, "connection"), "close");
  EXPECT_EQ(server.program().wait(), 0);
  EXPECT_FALSE(server.connect().is_connected());
}

TEST_F(Serve, ASecondTermEndsAtOnce) {
  RunningServer server(program_.folder(), {"--max-characters", "900000"});
  const std::string text = many_lines(15000);
  HttpClient busy = server.connect();
  send_post(busy, "/translate", request(text));
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 1.0; }));
  server.program().send(SIGTERM);
  EXPECT_TRUE(
      test_support::wait_until([&] { return server.program().errors().find("stopping") != std::string::npos; }));
  const auto begin = std::chrono::steady_clock::now();
  server.program().send(SIGTERM);
  EXPECT_EQ(server.program().wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

// A second or so of work: a beam tree is searched for each part.
std::string long_inspection() {
  const json part = {{"part", "beam"}};
  return json({{"text", "the cat runs and the dog sleeps"}, {"beam_size", 16}, {"parts", json::array_t(64, part)}})
      .dump();
}

// Everything a server can be doing when it is told to end: running, waiting in the queue, streaming, inspecting, with a
// request on its way, and reading models again.
TEST_F(Serve, TermLetsWorkOfEveryKindFinish) {
  RunningServer server(program_.folder(),
                       {"--workers", "1", "--batch-tokens", "64", "--longest-wait", "120", "--request-time", "120",
                        "--drain-time", "120", "--max-characters", "900000"});
  // Each connects when it asks: a connection that asks nothing is closed after five seconds.
  HttpClient running = server.connect();
  send_post(running, "/translate", request(many_lines(15000)));
  // Others are let in once its speed is known.
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_tokens_per_second") > 0.0; }));
  HttpClient waiting = server.connect(), streaming = server.connect();
  HttpClient inspecting = server.connect(), second_inspection = server.connect();
  send_post(waiting, "/translate", request(many_lines(3000)));
  send_post(streaming, "/v1/stream", request(many_lines(1000)));
  send_post(inspecting, "/v1/inspect", long_inspection());
  send_post(second_inspection, "/v1/inspect", R"({"text": "the cat"})");
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") >= 2.0; }));
  HttpClient late = server.connect();
  server.program().send(SIGHUP);
  server.program().send(SIGTERM);
  EXPECT_TRUE(
      test_support::wait_until([&] { return server.program().errors().find("stopping") != std::string::npos; }));
  server.program().send(SIGHUP);
  send_post(late, "/translate", request("the cat runs"));
  const std::string expected = offline({"the cat runs and the dog sleeps and the mouse"}).front();
  for (HttpClient* client : {&running, &waiting}) {
    const HttpAnswer answer = client->receive(std::chrono::minutes(2));
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, testing::HasSubstr(expected));
  }
  EXPECT_THAT(streaming.receive().body, testing::HasSubstr("event: done"));
  EXPECT_EQ(json::parse(inspecting.receive().body)["parts"].size(), 64U);
  EXPECT_EQ(second_inspection.receive().status, 200);
  EXPECT_EQ(late.receive().status, 200) << "it came on a connection that was open";
  EXPECT_EQ(server.program().wait(), 0) << server.program().errors();
}

TEST_F(Serve, ASecondTermEndsWorkOfEveryKindAtOnce) {
  RunningServer server(program_.folder(), {"--max-characters", "900000", "--workers", "1", "--longest-wait", "60"});
  HttpClient running = server.connect();
  send_post(running, "/translate", request(many_lines(15000)));
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 1.0; }));
  HttpClient waiting = server.connect(), inspecting = server.connect();
  send_post(waiting, "/v1/stream", request(many_lines(100)));
  send_post(inspecting, "/v1/inspect", long_inspection());
  // The request for the metric comes after the inspection, so that one has begun too.
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 2.0; }));
  server.program().send(SIGTERM);
  server.program().send(SIGHUP);
  EXPECT_TRUE(
      test_support::wait_until([&] { return server.program().errors().find("stopping") != std::string::npos; }));
  const auto begin = std::chrono::steady_clock::now();
  server.program().send(SIGTERM);
  EXPECT_EQ(server.program().wait(), 0) << server.program().errors();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

// Servers follow each other at one port, each ended once the next one serves, while clients ask on.
TEST_F(Serve, RestartsOneAfterTheOtherLoseNoRequest) {
  const std::string expected = offline({"the cat runs"}).front();
  auto server = std::make_unique<RunningServer>(program_.folder(), std::vector<std::string>{"--share-port"});
  const std::string port = std::to_string(server->port());
  std::atomic<bool> stop{false};
  std::atomic<int> right{0}, wrong{0}, again{0};
  std::vector<std::thread> clients;
  for (int number = 0; number < 4; ++number) {
    clients.emplace_back([&, at = server->port()] {
      auto client = std::make_unique<HttpClient>(at);
      for (int i = 0; !stop; ++i) {
        HttpAnswer answer = client->ask("POST", "/translate", request("the cat runs"));
        // As every client of HTTP does: what was sent on a connection that is just then closed is sent again.
        if (answer.status == 0) {
          ++again;
          client = std::make_unique<HttpClient>(at);
          answer = client->ask("POST", "/translate", request("the cat runs"));
        }
        const bool is_right = answer.status == 200 && json::parse(answer.body)["translatedText"] == expected;
        ++(is_right ? right : wrong);
        if (i % 3 == 0 || HttpClient::header(answer.head, "connection") == "close") {
          client = std::make_unique<HttpClient>(at);
        }
      }
    });
  }
  constexpr int kRestarts = 20;
  for (int restart = 0; restart < kRestarts; ++restart) {
    auto next =
        std::make_unique<RunningServer>(program_.folder(), std::vector<std::string>{"--port", port, "--share-port"});
    EXPECT_EQ(server->end(), 0) << restart;
    server = std::move(next);
  }
  stop = true;
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(wrong, 0) << "of " << right + wrong;
  EXPECT_GT(right, 200);
  EXPECT_LE(again, 4 * kRestarts) << "sent again, of " << right << "; each client at most once a restart";
  EXPECT_EQ(server->end(), 0);
}

TEST_F(Serve, HupLoadsTheNewModelAndKeepsTheOldOneWhenItIsDamaged) {
  RunningServer server(program_.folder());
  const auto answer = [&] { return server.post("/translate", request("the cat runs and the dog sleeps.")).body; };
  const std::string old_answer = answer();
  // Requests go on while models change.
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0}, asked{0};
  std::thread client([&] {
    HttpClient connection = server.connect();
    while (!stop) {
      ++asked;
      failed += connection.ask("POST", "/translate", request("the dog")).status == 200 ? 0 : 1;
      if (asked % 500 == 0) {
        connection = server.connect();
      }
    }
  });
  test_support::write_tiny_model(program_.folder() / "model", 2);
  server.program().send(SIGHUP);
  EXPECT_TRUE(test_support::wait_until([&] { return answer() != old_answer; })) << server.program().errors();
  const std::string new_answer = answer();
  // One bit of the weights.
  const std::filesystem::path weights = program_.folder() / "model" / "model.safetensors";
  std::string bytes = program_.read("model/model.safetensors");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  std::filesystem::permissions(weights, std::filesystem::perms::owner_all);
  std::ofstream(weights, std::ios::binary | std::ios::trunc) << bytes;
  server.program().send(SIGHUP);
  EXPECT_TRUE(
      test_support::wait_until([&] { return server.program().errors().find("not reloaded") != std::string::npos; }));
  EXPECT_THAT(server.program().errors(), testing::HasSubstr("model.safetensors"));
  EXPECT_EQ(answer(), new_answer);
  stop = true;
  client.join();
  EXPECT_EQ(failed, 0) << "of " << asked;
  EXPECT_EQ(server.end(), 0);
}

TEST_F(Serve, WrongStartsAreToldAndEndInTheirStatus) {
  RunningServer server(program_.folder());
  const auto start = [&](const std::string& words) { return program_.run("serve " + words); };
  expect_failure(start("--model en:de=model --port " + std::to_string(server.port())), 1, {"cannot listen", "--port"});
  expect_failure(start("--model model"), 2, {"does not say its languages", "en:de=model"});
  expect_failure(start("--model en:de=nothing --port 0"), 65, {"nothing"});
  expect_failure(start("--model en:de=model --model EN:DE=model --port 0"), 2, {"given twice"});
  expect_failure(start("--model en:de=model --host nowhere"), 2, {"--host", "nowhere"});
  expect_failure(start("--model en:de=model --port 70000"), 2, {"--port"});
  expect_failure(start("--model en:de=model --port 0 --beam-size 0"), 2, {"--beam-size"});
  expect_failure(start("--model en:de=model --port 0 --api-keys none"), 65, {"none"});
  EXPECT_EQ(server.end(), 0);
}

}  // namespace
}  // namespace dragoman
