// Texts made from the translations of their lines: the best one, and the next best ones.
#include <gtest/gtest.h>

#include "serving/service/translate_texts.h"

namespace dragoman::serving {
namespace {

using decoding::Translation;

const ServedModel kModel{};

// The translation of a line: the best one first, then its alternatives.
Translation line_of(const std::vector<std::string>& texts) {
  Translation line;
  line.text = texts.front();
  for (size_t i = 1; i < texts.size(); ++i) {
    line.alternatives.emplace_back();
    line.alternatives.back().text = texts[i];
  }
  return line;
}

std::vector<std::string> alternatives(const std::string& text, std::vector<Translation> lines, size_t count = 3) {
  const std::vector<TranslatedText> texts = translated_texts({{plan_text(text), &kModel}}, std::move(lines), count);
  EXPECT_EQ(texts.size(), 1U);
  return texts.front().alternatives;
}

using Texts = std::vector<std::string>;

TEST(TranslatedTexts, AnAlternativeIsNeverBlank) {
  EXPECT_EQ(alternatives("one", {line_of({"a", "b", "", "c"})}), (Texts{"b", "c"}));
  EXPECT_EQ(alternatives("one", {line_of({"a", " ", ""})}), Texts());
  EXPECT_EQ(alternatives("one", {line_of({"", "", "a"})}), Texts{"a"});
  EXPECT_EQ(alternatives("one\ntwo", {line_of({"a", "", "b"}), line_of({"c", "d", ""})}), (Texts{"b\nd"}))
      << "nor is a line of it";
  EXPECT_EQ(alternatives("one\ntwo", {line_of({"", ""}), line_of({"", " "})}), Texts());
}

TEST(TranslatedTexts, NoTwoAlternativesAreEqual) {
  EXPECT_EQ(alternatives("one", {line_of({"a", "b", "a", "b", "c"})}, 4), (Texts{"b", "c"}));
}

TEST(TranslatedTexts, LinesGoToTheirTexts) {
  const auto texts =
      translated_texts({{plan_text("one\ntwo"), &kModel}, {plan_text("!"), &kModel}, {plan_text("three"), &kModel}},
                       {line_of({"a"}), line_of({"b"}), line_of({"c"})}, 0);
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[0].text, "a\nb");
  EXPECT_EQ(texts[1].text, "!");
  EXPECT_EQ(texts[2].text, "c");
}

}  // namespace
}  // namespace dragoman::serving
