#include "evaluation/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/random.h"
#include "base/utf8.h"
#include "evaluation/read_text.h"
#include "evaluation/tokenizer.h"
#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::evaluation {
namespace {

using testing::ElementsAre;

TEST(Text, WhiteSpaceIsPythons) {
  int count = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    count += is_space(c) ? 1 : 0;
  }
  EXPECT_EQ(count, 29);
  EXPECT_TRUE(is_space(0x1C) && is_space(0x85) && is_space(0xA0) && is_space(0x2028) && is_space(0x3000));
  EXPECT_FALSE(is_space(0x200B) || is_space(0xFEFF) || is_space(0x180E) || is_space(0));
}

TEST(Text, SplittingAgreesWithIsSpaceForEveryCharacter) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) {
      continue;
    }
    const std::string line = "é" + base::encode_utf8(std::u32string(1, c));
    EXPECT_EQ(split_words(line + "b").size(), is_space(c) ? 2U : 1U) << "U+" << std::hex << static_cast<uint32_t>(c);
    EXPECT_EQ(trim_right(line), is_space(c) ? "é" : line) << "U+" << std::hex << static_cast<uint32_t>(c);
  }
}

TEST(Text, ChineseIsTextOfIdeographs) {
  const auto mostly = [](std::vector<std::string> lines) { return is_mostly_chinese(lines); };
  EXPECT_TRUE(mostly({"刚中而应，行险而顺。"}));
  EXPECT_TRUE(mostly({"返回 True 如果 x 是整数", "使用 for 循环可以遍历列表中的所有元素"})) << "with Latin words";
  EXPECT_FALSE(mostly({"The animal was too tired.", "中"}));
  EXPECT_FALSE(mostly({"どうもありがとう", "감사합니다"})) << "kana and Hangul are not cut by zh";
  EXPECT_FALSE(mostly({}));
  EXPECT_FALSE(mostly({"", " \u3000"}));
}

// Two letters that became U+FFFD would match.
TEST(Text, OfAnotherEncodingIsRefusedWithFileAndLine) {
  const test_support::TemporaryFolder folder;
  const auto write = [&](const std::string& bytes) {
    std::ofstream(folder.path() / "out.de", std::ios::binary) << bytes;
    return folder.path() / "out.de";
  };
  test_support::expect_error(base::ErrorKind::kBadData, {"out.de: line 2: byte 4 (0xE9) is not UTF-8", "iconv -f"},
                             [&] { static_cast<void>(read_text(write("ab\ncaf\xE9 a\n\xFF\n"))); });
  test_support::expect_error(base::ErrorKind::kBadData, {"out.de: is UTF-16", "iconv -f UTF-16 -t UTF-8"}, [&] {
    static_cast<void>(
        read_text(write(std::string("\xFF\xFE"
                                    "a\0\n\0",
                                    6))));
  });
  EXPECT_THAT(read_text(write("caf\xC3\xA9 \n\xEF\xBF\xBD\n")).lines, ElementsAre("caf\xC3\xA9", "\xEF\xBF\xBD"));
  EXPECT_THAT(read_text(write(test_support::xz("one\ntwo\n"))).lines, ElementsAre("one", "two"));
  EXPECT_THAT(read_text(write("\xEF\xBB\xBF"
                              "one"))
                  .lines,
              ElementsAre("\xEF\xBB\xBF"
                          "one"))
      << "as in sacreBLEU";
}

TEST(Text, TrimTakesBothEnds) {
  EXPECT_EQ(trim("\u3000 a\u00a0b \t"), "a\u00a0b");
  EXPECT_EQ(trim(" \u2003\r"), "");
  EXPECT_EQ(trim_right(""), "");
  EXPECT_THAT(split_words(" \u2028 "), testing::IsEmpty());
}

TEST(Text, TruncatedUtf8IsNotReadBeyondItsEnd) {
  for (const std::string& line :
       {std::string("a\xE2"), std::string("a\xE2\x80"), std::string("\xC2"), std::string("\x80\x80\x80")}) {
    EXPECT_EQ(trim_right(line), line);
    EXPECT_EQ(trim(line), line);
    EXPECT_THAT(split_words(line), ElementsAre(line));
  }
}

TEST(Text, LowerCasingIsFull) {
  EXPECT_EQ(lower_case("ABC xyz 1!"), "abc xyz 1!");
  EXPECT_EQ(lower_case("ΟΔΥΣΣΕΥΣ ΑΣΒ"), "οδυσσευς ασβ");
  EXPECT_EQ(lower_case("İ"), "i̇");
  EXPECT_EQ(lower_case(""), "");
}

TEST(Text, ReplacementIsNotReplacedAgain) {
  EXPECT_EQ(replace_all("aaa", "aa", "a"), "aa");
  EXPECT_EQ(replace_all("xay", "a", "aa"), "xaay");
  EXPECT_EQ(replace_all("", "a", "b"), "");
}

std::vector<std::string> words(Tokenizer tokenizer, std::string_view line) {
  const std::string tokenized = tokenize(tokenizer, line);
  const std::vector<std::string_view> views = split_words(tokenized);
  return {views.begin(), views.end()};
}

TEST(Tokenizer, NamesGoBothWays) {
  for (const char* name : {"13a", "intl", "zh", "char", "none"}) {
    EXPECT_EQ(tokenizer_name(parse_tokenizer(name)), name);
  }
  test_support::expect_error(base::ErrorKind::kUsage, {"13b", "intl"}, [] { parse_tokenizer("13b"); });
}

TEST(Tokenizer, NumbersKeepTheirPoints) {
  for (const Tokenizer tokenizer : {Tokenizer::k13a, Tokenizer::kIntl, Tokenizer::kZh}) {
    EXPECT_THAT(words(tokenizer, "x 1,234.5 y."), ElementsAre("x", "1,234.5", "y", ".")) << tokenizer_name(tokenizer);
  }
}

TEST(Tokenizer, NoneOfThemLosesACharacter) {
  const std::string line = "„Ja“, 3.5-mal (a/b) … 他说：好。x²";
  for (const Tokenizer tokenizer :
       {Tokenizer::k13a, Tokenizer::kIntl, Tokenizer::kZh, Tokenizer::kChar, Tokenizer::kNone}) {
    std::string joined;
    for (const std::string& word : words(tokenizer, line)) {
      joined += word;
    }
    EXPECT_EQ(joined, replace_all(line, " ", "")) << tokenizer_name(tokenizer);
  }
}

TEST(Tokenizer, AnyBytesAreTakenWithoutHarm) {
  base::Random random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string line(random.below(20), ' ');
    std::generate(line.begin(), line.end(), [&] { return static_cast<char>(random.below(256)); });
    const bool ascii = std::all_of(line.begin(), line.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
    for (const Tokenizer tokenizer :
         {Tokenizer::k13a, Tokenizer::kIntl, Tokenizer::kZh, Tokenizer::kChar, Tokenizer::kNone}) {
      const std::vector<std::string> seen = words(tokenizer, lower_case(trim_right(line)));
      EXPECT_EQ(ascii && seen.empty(), ascii && trim(line).empty()) << tokenizer_name(tokenizer);
    }
  }
}

TEST(FittingTokenizer, FollowsTheLanguageAndOtherwiseTheText) {
  const std::vector<std::string> chinese = {"大凌小者，警以诱之。"}, english = {"The animal was tired."};
  EXPECT_EQ(fitting_tokenizer("zh", english), Tokenizer::kZh);
  EXPECT_EQ(fitting_tokenizer("zh-Hant", {}), Tokenizer::kZh);
  EXPECT_EQ(fitting_tokenizer("ja", chinese), Tokenizer::kChar);
  EXPECT_EQ(fitting_tokenizer("th", {}), Tokenizer::kChar);
  EXPECT_EQ(fitting_tokenizer("de", chinese), Tokenizer::k13a);
  EXPECT_EQ(fitting_tokenizer("", chinese), Tokenizer::kZh);
  EXPECT_EQ(fitting_tokenizer("", english), Tokenizer::k13a);
  EXPECT_EQ(fitting_tokenizer("", {}), Tokenizer::k13a);
}

TEST(Tokenizer, ChineseCharactersStandAlone) {
  EXPECT_THAT(words(Tokenizer::kZh, "他买ABC，好。"), ElementsAre("他", "买", "ABC", "，", "好", "。"));
  EXPECT_THAT(words(Tokenizer::kChar, "a b他"), ElementsAre("a", "b", "他"));
}

}  // namespace
}  // namespace dragoman::evaluation
