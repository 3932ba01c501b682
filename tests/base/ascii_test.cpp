#include "base/ascii.h"

#include <gtest/gtest.h>

#include "base/nearest_name.h"

namespace dragoman::base {
namespace {

TEST(Ascii, TrimRemovesTheGivenBytesAtBothEnds) {
  EXPECT_EQ(trim("  a b\t ", " \t"), "a b");
  EXPECT_EQ(trim("  a b\t ", " "), "a b\t");
  EXPECT_EQ(trim("a", " "), "a");
  EXPECT_EQ(trim("   ", " "), "");
  EXPECT_EQ(trim("", " "), "");
}

TEST(NearestName, TheSmallestEditDistanceWins) {
  EXPECT_EQ(nearest_name("d_modle", {"d_ff", "d_model", "dropout"}), "d_model");
  EXPECT_EQ(nearest_name("x", {"a", "b"}), "a") << "the first of equally near names";
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace dragoman::base
