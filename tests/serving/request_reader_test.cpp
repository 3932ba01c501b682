// Bytes to requests: which are read, which are refused, and that the pieces in which they arrive do not matter.
#include "serving/http/request_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "base/random.h"
#include "framing_cases.h"

namespace dragoman::serving {
namespace {

using State = RequestReader::State;

const HttpLimits kLimits;

std::string request_of(const std::string& headers, const std::string& body = "") {
  return "POST /translate HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
}

// Returns all requests in `bytes`, which arrive in pieces of `sizes` and then the rest; a refusal is its status.
std::vector<std::string> read_all(const std::string& bytes, const std::vector<size_t>& sizes) {
  RequestReader reader(kLimits);
  std::vector<std::string> seen;
  size_t at = 0;
  for (size_t i = 0; at < bytes.size(); ++i) {
    const size_t size = std::min(i < sizes.size() ? sizes[i] : bytes.size(), bytes.size() - at);
    reader.add(std::string_view(bytes).substr(at, size));
    at += size;
    while (reader.state() == State::kDone) {
      const Request request = reader.take_request();
      seen.push_back(request.method + " " + request.path + "?" + request.query + " " + request.body);
    }
    if (reader.state() == State::kBad) {
      seen.push_back(std::to_string(reader.refusal().status));
      break;
    }
  }
  return seen;
}

TEST(RequestReader, ReadsWholeAndChunkedBodies) {
  const std::string bytes =
      request_of("Content-Length: 5\r\n", "hello") +
      request_of("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nT: v\r\n\r\n") +
      "GET /languages?a=b HTTP/1.1\r\nHost: b\r\n\r\n";
  EXPECT_EQ(read_all(bytes, {}),
            (std::vector<std::string>{"POST /translate? hello", "POST /translate? abcdefg", "GET /languages?a=b "}));
}

TEST(RequestReader, HowTheBytesArriveChangesNothing) {
  base::Random random(7);
  std::vector<std::string> streams;
  for (const FramingCase& one : framing_cases()) {
    streams.push_back(one.bytes);
  }
  streams.push_back(request_of("Content-Length: 5\r\n", "hello") + request_of("Content-Length: 0\r\n") +
                    request_of("Transfer-Encoding: chunked\r\n", "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"));
  for (const std::string& bytes : streams) {
    const std::vector<std::string> expected = read_all(bytes, {});
    EXPECT_EQ(read_all(bytes, std::vector<size_t>(bytes.size(), 1)), expected) << "byte by byte: " << bytes;
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<size_t> sizes;
      for (size_t sum = 0; sum < bytes.size(); sum += sizes.back()) {
        sizes.push_back(1 + random.below(40));
      }
      EXPECT_EQ(read_all(bytes, sizes), expected) << bytes;
    }
  }
}

TEST(RequestReader, RefusesWhatTwoProgramsCouldReadDifferently) {
  for (const FramingCase& one : framing_cases()) {
    const std::vector<std::string> seen = read_all(one.bytes, {});
    EXPECT_EQ(seen, std::vector<std::string>{std::to_string(one.status)}) << one.what;
  }
  EXPECT_GE(framing_cases().size(), 60U);
}

TEST(RequestReader, AbsoluteTargetsAreServedUnderTheirHost) {
  const auto request = [](const std::string& line) {
    RequestReader reader(kLimits);
    EXPECT_EQ(reader.add(line + " HTTP/1.1\r\nHost: other\r\n\r\n"), State::kDone) << line;
    return reader.take_request();
  };
  for (const auto& [line, path, query, host] : std::vector<std::array<std::string, 4>>{
           {"POST http://127.0.0.1:5055/translate", "/translate", "", "127.0.0.1:5055"},
           {"GET HTTP://a.example/languages?x=http://b/", "/languages", "x=http://b/", "a.example"},
           {"GET https://[::1]:80?q=1", "/", "q=1", "[::1]:80"},
           {"OPTIONS http://a", "/", "", "a"},
           {"OPTIONS *", "*", "", "other"},
           {"GET /a?b?c", "/a", "b?c", "other"}}) {
    const Request seen = request(line);
    EXPECT_EQ(seen.path, path) << line;
    EXPECT_EQ(seen.query, query) << line;
    EXPECT_EQ(seen.header("Host"), host) << line;
  }
}

TEST(RequestReader, EmptyLinesBeforeARequestAreSkipped) {
  const std::string posted = request_of("Content-Length: 5\r\n", "hello");
  const std::string bytes = "\r\n" + posted + "\r\n" + posted + "\r\n\r\n\r\n" + posted + "\r\n";
  const std::vector<std::string> expected(3, "POST /translate? hello");
  EXPECT_EQ(read_all(bytes, {}), expected);
  EXPECT_EQ(read_all(bytes, std::vector<size_t>(bytes.size(), 1)), expected);
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.add("\r\n\r"), State::kIdle) << "no byte of a request has arrived";
  EXPECT_EQ(reader.add("\n" + posted), State::kDone);
}

TEST(RequestReader, TrailersAreNoHeaders) {
  RequestReader reader(kLimits);
  reader.add(request_of("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\nAuthorization: DeepL-Auth-Key x\r\n\r\n"));
  ASSERT_EQ(reader.state(), State::kDone);
  EXPECT_EQ(reader.take_request().header("Authorization"), "");
}

TEST(RequestReader, LimitsAreExact) {
  const auto status = [](const std::string& bytes) { return read_all(bytes, {}).front(); };
  const auto target = [](size_t size) { return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"; };
  EXPECT_TRUE(status(target(kLimits.target_bytes)).starts_with("GET"));
  EXPECT_EQ(status(target(kLimits.target_bytes + 1)), "414");
  const auto fields = [](size_t count) {
    std::string headers;
    for (size_t i = 1; i < count; ++i) {
      headers += fmt::format("X-{}: y\r\n", i);
    }
    return request_of(headers);
  };
  EXPECT_TRUE(status(fields(kLimits.fields)).starts_with("POST"));
  EXPECT_EQ(status(fields(kLimits.fields + 1)), "431");
  const std::string fixed = request_of("X: \r\n");
  const auto head = [&](size_t size) { return request_of("X: " + std::string(size - fixed.size(), 'a') + "\r\n"); };
  EXPECT_TRUE(status(head(kLimits.head_bytes)).starts_with("POST"));
  EXPECT_EQ(status(head(kLimits.head_bytes + 1)), "431");
  const auto body = [](size_t size) {
    return request_of(fmt::format("Content-Length: {}\r\n", size), std::string(size, 'a'));
  };
  EXPECT_TRUE(status(body(kLimits.body_bytes)).starts_with("POST"));
  EXPECT_EQ(status(body(kLimits.body_bytes + 1)), "413");
}

TEST(RequestReader, TooLongABodyIsRefusedBeforeItComes) {
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.add(request_of("Content-Length: 999999999999\r\n")), State::kBad);
  EXPECT_EQ(reader.refusal().status, 413);
}

TEST(RequestReader, AnEndlessChunkedBodyIsCutAtTheLimit) {
  RequestReader reader(kLimits);
  reader.add(request_of("Transfer-Encoding: chunked\r\n"));
  const std::string chunk = "1000\r\n" + std::string(0x1000, 'a') + "\r\n";
  size_t chunks = 0;
  while (reader.state() == State::kBody && chunks < 10'000) {
    reader.add(chunk);
    ++chunks;
  }
  EXPECT_EQ(reader.state(), State::kBad);
  EXPECT_EQ(reader.refusal().status, 413);
  EXPECT_LE(chunks, kLimits.body_bytes / 0x1000 + 1);
}

TEST(RequestReader, AskedForContinueOnce) {
  RequestReader reader(kLimits);
  reader.add(request_of("Expect: 100-continue\r\nContent-Length: 2\r\n"));
  EXPECT_TRUE(reader.clear_expectation());
  EXPECT_FALSE(reader.clear_expectation());
  reader.add("ok");
  EXPECT_EQ(reader.state(), State::kDone);
}

TEST(RequestReader, KeepsTheConnectionAsHttpSays) {
  const auto keeps = [](const std::string& bytes) {
    RequestReader reader(kLimits);
    reader.add(bytes);
    EXPECT_EQ(reader.state(), State::kDone) << bytes;
    reader.take_request();
    return reader.keep_alive();
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

// Bytes that are nearly requests: the reader always ends in a state and holds no more than its limits.
TEST(RequestReader, RandomDamageIsTakenOrRefused) {
  base::Random random(11);
  const std::string good = request_of("Content-Type: application/json\r\nContent-Length: 5\r\n", "hello") +
                           request_of("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n");
  size_t refused = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string bytes = good;
    for (uint64_t edit = 1 + random.below(3); edit > 0; --edit) {
      const size_t at = random.below(bytes.size());
      switch (random.below(3)) {
        case 0:
          bytes[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          bytes.erase(at, 1 + random.below(4));
          break;
        default:
          bytes.insert(at, std::string(1, "\r\n:;0 \t\x00-,"[random.below(9)]));
      }
    }
    const std::vector<std::string> seen = read_all(bytes, {});
    refused += !seen.empty() && seen.back().size() == 3 ? 1 : 0;
    EXPECT_LE(seen.size(), 4U) << bytes;
  }
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace dragoman::serving
