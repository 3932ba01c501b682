#include "base/base64.h"

#include <gtest/gtest.h>

#include <string_view>

#include "support/expect_error.h"

namespace dragoman::base {
namespace {

std::string encoded(std::string_view text) {
  return base64(std::as_bytes(std::span(text)));
}

// The test vectors of RFC 4648, section 10.
TEST(Base64, PublishedValues) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Base64, AllSignsAreThoseOfTheStandard) {
  EXPECT_EQ(encoded(std::string_view("\0\x10\x83\xFB\xEF\xBE\xFF\xFF\xFF", 9)), "ABCD++++////");
}

TEST(Base64, ReadingIsTheInverse) {
  std::string text;
  for (int length = 0; length < 300; ++length) {
    EXPECT_EQ(from_base64(encoded(text), "x"), text) << length;
    text.push_back(static_cast<char>(length * 7));
  }
}

TEST(Base64, WhatIsNoBase64IsRefused) {
  const auto refuses = [](const char* text, const char* message) {
    test_support::expect_error(ErrorKind::kBadData, {message}, [&] { static_cast<void>(from_base64(text, "key")); });
  };
  refuses("Zg=", "key is not base64, 3 characters are no whole groups of 4");
  refuses("Zg =", "key is not base64 at character 2");
  refuses("Z===", "key is not base64 at character 1");
  refuses("====", "key is not base64 at character 0");
  refuses("Zm9v\nA==", "key is not base64 at character 4");
}

}  // namespace
}  // namespace dragoman::base
