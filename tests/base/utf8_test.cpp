#include "base/utf8.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dragoman::base {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

TEST(Utf8, AcceptsEveryScalarValueAndRoundTripsIt) {
  for (char32_t c = 1; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) {
      continue;
    }
    const std::string text = encode_utf8(std::u32string(1, c));
    ASSERT_TRUE(is_valid_utf8(text)) << "U+" << std::hex << static_cast<uint32_t>(c);
    ASSERT_EQ(decode_utf8(text), std::u32string(1, c)) << "U+" << std::hex << static_cast<uint32_t>(c);
    ASSERT_EQ(repair_utf8(text), text) << "U+" << std::hex << static_cast<uint32_t>(c);
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndValuesBeyondTheLast) {
  for (const char* text : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "\xFF", "abcdefgh\xE2\x82"}) {
    EXPECT_FALSE(is_valid_utf8(text)) << testing::PrintToString(text);
  }
}

// The examples of Unicode 15, section 3.9, tables 3-8 to 3-11: one U+FFFD for each maximal ill-formed part.
TEST(Utf8, ReplacesMaximalSubparts) {
  const auto expect = [](const std::string& bytes, int replaced, const std::string& tail) {
    std::string expected;
    for (int i = 0; i < replaced; ++i) {
      expected += kReplacement;
    }
    EXPECT_EQ(repair_utf8(bytes), expected + tail) << testing::PrintToString(bytes);
  };
  expect("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", 8, "A");
  expect("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", 8, "A");
  expect("\xF4\x91\x92\x93\xFF\x41", 5, "A");
  expect("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 4, "A");
}

TEST(Utf8, NulBecomesASpace) {
  EXPECT_EQ(repair_utf8(std::string_view("a\0b\0", 4)), "a b ");
}

TEST(Utf8, RepairOfRandomBytesIsValidAndIdempotent) {
  Random random(7);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string bytes(random.below(24), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random.below(2) ? random.below(256) : 0x80 + random.below(128));
    }
    const std::string repaired = repair_utf8(bytes);
    ASSERT_TRUE(is_valid_utf8(repaired)) << testing::PrintToString(bytes);
    ASSERT_EQ(repair_utf8(repaired), repaired) << testing::PrintToString(bytes);
    ASSERT_EQ(repaired.find('\0'), std::string::npos) << testing::PrintToString(bytes);
    const bool has_nul = bytes.find('\0') != std::string::npos;
    ASSERT_EQ(repaired == bytes, is_valid_utf8(bytes) && !has_nul) << testing::PrintToString(bytes);
    if (!has_nul) {
      ASSERT_EQ(encode_utf8(decode_utf8(bytes)), repaired) << testing::PrintToString(bytes);
    }
  }
}

TEST(Utf8, EncodeReplacesSurrogatesAndLargeValues) {
  EXPECT_EQ(encode_utf8(std::u32string{0xD800, 0x110000, U'a'}), kReplacement + kReplacement + "a");
}

TEST(Utf8, OnlyLineFeedEndsALine) {
  const std::string text = "a\r\nb\r\r\n\nc\rd\n\xC2\x85\xE2\x80\xA8\v\fe";
  EXPECT_EQ(split_lines(text), (std::vector<std::string>{"a", "b\r", "", "c\rd", "\xC2\x85\xE2\x80\xA8\v\fe"}));
  EXPECT_TRUE(split_lines("").empty());
  EXPECT_EQ(split_lines("\n"), std::vector<std::string>{""});
  EXPECT_EQ(split_lines("x"), std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace dragoman::base
