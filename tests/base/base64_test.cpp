#include "base/base64.h"

#include <gtest/gtest.h>

#include <string_view>

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

}  // namespace
}  // namespace dragoman::base
