#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/random.h"
#include "support/expect_error.h"

namespace dragoman::base {
namespace {

using nlohmann::json;
using test_support::expect_error;

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(FilesJson, WhatIsDumpedIsParsed) {
  const json value = {{"a", {1, -2, 2.5, true, nullptr}}, {"b", {{"c", "\u00fcber \"x\" \n"}}}, {"d", json::object()}};
  EXPECT_EQ(parse_json(dump_json(value), "x"), value);
  EXPECT_EQ(parse_json(dump_json(value, 2), "x"), value);
}

TEST(FilesJson, DecimalsReadBackAsTheSameFloat) {
  for (const auto& [value, text] : std::vector<std::pair<float, std::string>>{
           {0.3F, "0.3"}, {0.1F, "0.1"}, {1e-5F, "1e-05"}, {0.5F, "0.5"}, {0.0F, "0.0"}, {-2.5e8F, "-250000000.0"}}) {
    EXPECT_EQ(dump_json(decimal(value)), text);
  }
  Random random(7);
  for (int i = 0; i < 100'000; ++i) {
    const float value = std::bit_cast<float>(random.next_u32());
    if (std::isfinite(value)) {
      const double written = parse_json(dump_json(json::array({decimal(value)})), "x")[0].get<double>();
      EXPECT_EQ(static_cast<float>(written), value);
    }
  }
}

TEST(FilesJson, FloatsOfOlderFilesBecomeDecimals) {
  const json old =
      parse_json(R"({"model": {"dropout": 0.30000001192092896, "d_model": 8}, "alpha": 0.1, "x": [0.5]})", "x");
  EXPECT_EQ(dump_json(with_decimals(old)), R"({"alpha":0.1,"model":{"d_model":8,"dropout":0.3},"x":[0.5]})");
}

TEST(FilesJson, DumpNeverThrows) {
  EXPECT_EQ(dump_json(json("a\xff"
                           "b")),
            "\"a\xEF\xBF\xBD"
            "b\"");
}

TEST(FilesJson, BracketsInStringsAreNotDepth) {
  const std::string text = R"({"a": ")" + repeated("[{", 100) + R"(\"[[\\"})";
  EXPECT_TRUE(parse_json(text, "x").is_object());
}

TEST(FilesJson, DepthLimitIsExact) {
  const JsonLimits limits{.max_depth = 5};
  EXPECT_TRUE(parse_json("[[[[[1]]]]]", "x", limits).is_array());
  expect_error(ErrorKind::kBadData, {"x: byte 6", "nests deeper than 5"},
               [&] { parse_json("[[[[[[1]]]]]]", "x", limits); });
}

TEST(FilesJson, SameKeyInDifferentObjectsIsFine) {
  EXPECT_EQ(parse_json(R"([{"a":1,"b":{"a":2}},{"a":3}])", "x").size(), 2U);
}

std::vector<std::string> hostile_texts() {
  std::vector<std::string> texts{"",
                                 " ",
                                 "nul",
                                 "{",
                                 "[",
                                 "}",
                                 "]",
                                 "{]",
                                 "[}",
                                 "\"",
                                 "{\"a\"",
                                 "{\"a\":",
                                 "{\"a\":1",
                                 "{\"a\":1,}",
                                 "{,}",
                                 "[1,]",
                                 "[1 2]",
                                 "{a:1}",
                                 "{'a':1}",
                                 "{\"a\":1}{",
                                 "{\"a\":1} x",
                                 "1 2",
                                 "NaN",
                                 "[NaN]",
                                 "[Infinity]",
                                 "[-Infinity]",
                                 "[+1]",
                                 "[01]",
                                 "[.5]",
                                 "[5.]",
                                 "[1e]",
                                 "[0x10]",
                                 "[1e999]",
                                 "[-1e999]",
                                 "[" + std::string(400, '9') + "]",
                                 "/* c */ {}",
                                 "{} // c",
                                 "\xEF\xBB\xBF{}",
                                 "\xFF\xFE{\0}\0",
                                 std::string("{\"a\0\":1}", 8),
                                 std::string("{}\0", 3),
                                 std::string("\0", 1),
                                 "[\"\\ud800\"]",
                                 "[\"\\udc00\"]",
                                 "[\"\\ud800\\u0041\"]",
                                 "[\"\\ud800\\ud800\"]",
                                 "[\"\\x41\"]",
                                 "[\"\\u12\"]",
                                 "[\"\\u12g4\"]",
                                 "[\"a\nb\"]",
                                 "[\"a\tb\"]",
                                 "[\"\xC0\x80\"]",
                                 "[\"\xED\xA0\x80\"]",
                                 "[\"\xF5\x80\x80\x80\"]",
                                 "[\"\xE2\x82\"]",
                                 "[\"\x80\"]",
                                 "{\"a\":1,\"a\":1}",
                                 "{\"a\":1,\"\\u0061\":2}",
                                 "{\"x\":{\"a\":1,\"b\":2,\"a\":3}}",
                                 "[{\"\":1,\"\":2}]",
                                 "tru",
                                 "True",
                                 "None",
                                 "{\"a\":undefined}"};
  for (const size_t times : {size_t{33}, size_t{1000}, size_t{100000}, size_t{1000000}}) {
    texts.push_back(repeated("[", times));
    texts.push_back(repeated("{\"a\":", times));
    texts.push_back(repeated("[", times) + repeated("]", times));
    texts.push_back(repeated("{\"a\":", times) + "1" + repeated("}", times));
    texts.push_back(repeated("[{\"a\":", times));
  }
  texts.push_back("\"" + std::string(17 << 20, 'a') + "\"");  // beyond the size limit
  texts.push_back("[" + std::string(1 << 20, 'z') + "]");     // the message must not quote a megabyte
  return texts;
}

TEST(FilesJson, HostileTextsAreRefusedQuickly) {
  const std::vector<std::string> texts = hostile_texts();
  EXPECT_GE(texts.size(), 80U);
  for (const std::string& text : texts) {
    const auto start = std::chrono::steady_clock::now();
    const std::string message =
        expect_error(ErrorKind::kBadData, {"config.json: "}, [&] { parse_json(text, "config.json"); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_FALSE(message.empty()) << "accepted: " << text.substr(0, 60);
    EXPECT_LT(message.size(), 1000U) << text.substr(0, 60);
    EXPECT_LT(seconds.count(), 1.0) << text.substr(0, 60);
  }
}

// Every prefix of a valid text but the whole is refused: what a cut file holds.
TEST(FilesJson, EveryPrefixIsRefused) {
  const std::string text = R"({"d_model": 512, "names": ["a", "b\n"], "dropout": 0.1, "deep": {"x": [[1]]}})";
  for (size_t length = 0; length < text.size(); ++length) {
    expect_error(ErrorKind::kBadData, {"x"}, [&] { parse_json(std::string_view(text).substr(0, length), "x"); });
  }
}

}  // namespace
}  // namespace dragoman::base
