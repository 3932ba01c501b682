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

TEST(NearName, TheSmallestEditDistanceWins) {
  EXPECT_EQ(near_name("d_modle", {"d_ff", "d_model", "dropout"}), "d_model");
  EXPECT_EQ(near_name("abx", {"aba", "abb"}), "aba") << "the first of equally near names";
  EXPECT_EQ(near_name("trian", {"translate", "train"}), "train") << "two letters swapped are one mistake";
  EXPECT_EQ(near_name("--VERBOS", {"--version", "--verbose"}), "--verbose");
  EXPECT_EQ(near_name("x", {}), "");
}

TEST(NearName, SeveralNearNamesStandInTheirOrder) {
  const std::vector<std::string> codes = {"fa", "de", "fr", "en", "eng_Latn"};
  EXPECT_EQ(near_names("fp", codes, 8), (std::vector<std::string>{"fa", "fr"}));
  EXPECT_EQ(near_names("fp", codes, 1), (std::vector<std::string>{"fa"}));
  EXPECT_EQ(near_names("eng_Lant", codes, 8), (std::vector<std::string>{"eng_Latn"}));
  EXPECT_EQ(near_names("xyz", codes, 8), (std::vector<std::string>{}));
}

TEST(NearName, FarNamesAreNotSuggested) {
  EXPECT_EQ(near_name("help", {"tune", "train"}), "");
  EXPECT_EQ(near_name("completion", {"attention"}), "");
  EXPECT_EQ(near_name("-x", {"-h", "--help"}), "") << "one letter is not near another";
  EXPECT_EQ(near_name("huge", {"base", "big", "tiny"}), "");
  EXPECT_EQ(near_name(std::string(1'000'000, 'x'), {"train"}), "");
}

TEST(NearName, CaseAndBeginningsAreNear) {
  EXPECT_EQ(near_name("-v", {"-h", "--help", "-V", "--version"}), "-V");
  EXPECT_EQ(near_name("--valid", {"--valid-source", "--vocab-size"}), "--valid-source");
  EXPECT_EQ(near_name("", {"train"}), "");
}

TEST(NearName, ASuggestionIsTheEndOfAMessage) {
  EXPECT_EQ(did_you_mean("d_modle", {"d_model"}), "; did you mean \"d_model\"?");
  EXPECT_EQ(did_you_mean("evalute", {"evaluate"}, ""), "; did you mean evaluate?");
  EXPECT_EQ(did_you_mean("help", {"tune"}), "");
}

}  // namespace
}  // namespace dragoman::base
