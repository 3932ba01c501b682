// Tags of a sentence in its translation: none lost, none doubled, well nested, around the words that attend to theirs.
#include "serving/text/inline_tags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "base/ascii.h"
#include "base/random.h"
#include "decoding/tiny_vocabulary.h"
#include "served_tiny_model.h"
#include "serving/text/html_text.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {
namespace {

using decoding::Alignment;
using decoding::Translation;

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    words.push_back("\u2581" + word);
  }
  return words;
}

// A translation whose word t attends to the source word looks[t]. Each word is one piece.
Translation translated(const std::string& source, const std::string& text, const std::vector<size_t>& looks) {
  Translation translation;
  translation.text = text;
  translation.pieces = words_in(text);
  translation.source_pieces = words_in(source);
  translation.source_pieces.emplace_back("</s>");
  const size_t n_source = translation.source_pieces.size();
  Alignment& alignment = translation.alignment;
  alignment.target_length = static_cast<int64_t>(looks.size());
  alignment.source_length = static_cast<int64_t>(n_source);
  alignment.weights.assign(looks.size() * n_source, 0.1F / static_cast<float>(n_source));
  for (size_t t = 0; t < looks.size(); ++t) {
    alignment.weights[t * n_source + looks[t]] += 0.9F;
  }
  return translation;
}

// Returns the translation of a text with one line.
std::string placed(const std::string& html, const std::string& text, const std::vector<size_t>& looks) {
  const TextPlan plan = plan_html(html);
  EXPECT_EQ(plan.lines(), 1U) << html;
  const auto line = std::ranges::find(plan.pieces, true, &TextPlan::Piece::is_line);
  const std::vector<Translation> lines = {translated(line->text, text, looks)};
  return assemble(plan, lines);
}

TEST(InlineTags, StandAroundTheWordsThatLookAtTheirs) {
  EXPECT_EQ(placed("I <b>really</b> like it", "Ich mag es wirklich", {0, 2, 3, 1}), "Ich mag es <b>wirklich</b>");
  EXPECT_EQ(placed("<i>red</i> <b>cars</b> go", "gehen Autos rote", {2, 1, 0}), "gehen <b>Autos</b> <i>rote</i>");
  EXPECT_EQ(placed("go <a href=\"x?a&b\"><i>very</i> fast</a> now", "jetzt sehr schnell gehen", {3, 1, 2, 0}),
            "jetzt <a href=\"x?a&b\"><i>sehr</i> schnell</a> gehen");
  EXPECT_EQ(placed("a <b>b</b> c", "x y z w", {0, 1, 1, 2}), "x <b>y z</b> w");
  EXPECT_EQ(placed("a <b>b c d</b> e", "v w x y z", {0, 1, 4, 2, 3}), "v <b>w x y z</b>")
      << "most of its own, in one run";
  EXPECT_EQ(placed("a <b>b</b> &amp; c", "w x & z", {0, 1, 1, 3}), "w <b>x</b> &amp; z") << "marks follow no tag";
}

TEST(InlineTags, AnElementThatNothingLooksAtGetsAWord) {
  const std::string out = placed("a <b>b</b> c", "x z", {0, 2});
  EXPECT_TRUE(out == "<b>x</b> z" || out == "x <b>z</b>") << out;
  EXPECT_EQ(placed("a <b>b</b>", "x", {0}), "<b>x</b>");
  EXPECT_EQ(placed("a <b>b</b> <i>c</i> d", "x", {0}), "<b>x</b><i></i>") << "no word is left";
}

TEST(InlineTags, PointsStandWhereTheyPartTheWords) {
  EXPECT_EQ(placed("a b<img src=x> c d", "w x y z", {0, 1, 2, 3}), "w x<img src=x> y z");
  EXPECT_EQ(placed("a b <img src=x>c d", "w x y z", {2, 3, 0, 1}), "<img src=x>w x y z");
  EXPECT_EQ(placed("a <b></b><!-- n -->b", "x y", {0, 1}), "x <b></b><!-- n -->y");
  EXPECT_EQ(placed("a <b>b <img> c</b> d", "w x y z", {0, 1, 2, 3}), "w <b>x <img> y</b> z");
}

TEST(InlineTags, ScriptsWithoutSpacesAreCutBetweenCharacters) {
  const TextPlan plan = plan_html("I <b>like</b> cats");
  Translation translation = translated("I like cats", "", {});
  translation.text = "我喜欢猫";
  translation.pieces = {"\u2581我", "喜欢", "猫"};
  translation.alignment = translated("I like cats", "a b c", {0, 1, 2}).alignment;
  EXPECT_EQ(assemble(plan, std::vector{translation}), "我<b>喜欢</b>猫");
}

// Random nested markup around words; a random translation of it, randomly aligned or not at all.
class Fuzz {
 public:
  explicit Fuzz(uint64_t seed) : random_(seed) {}

  std::string html(int depth) {
    constexpr const char* kNames[] = {"a", "b", "i", "span", "sub"};
    std::string text;
    for (uint64_t i = random_.below(5); i > 0; --i) {
      const uint64_t kind = random_.below(depth > 3 ? 3 : 6);
      const std::string name = kNames[random_.below(5)];
      text += kind == 0   ? "<img alt='" + std::to_string(tag_++) + "'>"
              : kind == 1 ? "<!--" + std::to_string(tag_++) + "-->"
              : kind == 2 ? escaped_html(words(3))
                          : "<" + name + " id=" + std::to_string(tag_++) + ">" + html(depth + 1) + "</" + name + ">";
      text += random_.below(2) == 0 ? " " : "";
    }
    return text;
  }
  std::string words(uint64_t most) {
    std::string text;
    for (uint64_t i = random_.below(most + 1); i > 0; --i) {
      text += (text.empty() ? "" : " ") + std::string(kWords[random_.below(8)]);
    }
    return text;
  }
  Translation translation(const std::string& source) {
    const std::string text = words(9);
    std::vector<size_t> looks;
    for (size_t i = words_in(text).size(); i > 0; --i) {
      looks.push_back(random_.below(words_in(source).size() + 1));
    }
    Translation result = translated(source, text, looks);
    if (random_.below(4) == 0) {
      result.alignment = {};
    }
    return result;
  }

 private:
  static constexpr const char* kWords[] = {"ein", "zwei,", "a<b", "&", "猫狗", "x!", "(Y)", "-"};
  base::Random random_;
  int tag_ = 0;
};

std::vector<std::string> tags_of(const std::string& html) {
  std::vector<std::string> tags;
  for (const HtmlToken& token : html_tokens(html, {})) {
    if (token.kind != HtmlToken::Kind::kText) {
      tags.emplace_back(token.bytes);
    }
  }
  return tags;
}

// Every end tag ends the last element that is open.
void expect_well_nested(const std::string& html) {
  std::vector<std::string> open;
  for (const HtmlToken& token : html_tokens(html, {})) {
    if (token.kind == HtmlToken::Kind::kStart) {
      open.push_back(token.name);
    } else if (token.kind == HtmlToken::Kind::kEnd) {
      ASSERT_FALSE(open.empty()) << html;
      ASSERT_EQ(open.back(), token.name) << html;
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty()) << html;
}

// A point with blanks on both sides keeps both, which show as one between words, and not at all before them.
std::string with_single_blanks(const std::string& text) {
  return std::string(base::trim(std::regex_replace(text, std::regex(" +"), " "), " "));
}

TEST(InlineTags, NoneIsLostOrDoubledAndTheTextStays) {
  Fuzz fuzz(11);
  size_t with_tags = 0;
  const std::regex tag("<[^>]*>");
  for (int trial = 0; trial < 20000; ++trial) {
    const std::string html = fuzz.html(0);
    const auto sentences = trial % 2 == 0 ? Sentences::kApart : Sentences::kTogether;
    const TextPlan plan = plan_html(html, {}, sentences);
    EXPECT_EQ(unchanged(plan), html);
    ASSERT_LE(plan.lines(), sentences == Sentences::kApart ? 99U : 1U) << html;
    std::vector<Translation> lines;
    std::string expected;
    for (const TextPlan::Piece& piece : plan.pieces) {
      if (piece.is_line) {
        lines.push_back(fuzz.translation(piece.text));
        with_tags += piece.tags.empty() ? 0 : 1;
      }
      expected += piece.is_line ? escaped_html(lines.back().text) : std::regex_replace(piece.text, tag, "");
    }
    const std::string out = assemble(plan, lines);
    std::vector<std::string> tags_in = tags_of(html), tags_out = tags_of(out);
    std::ranges::sort(tags_in);
    std::ranges::sort(tags_out);
    ASSERT_EQ(tags_out, tags_in) << html << "\n" << out;
    if (lines.size() < 2) {  // otherwise the blanks between them depend on their ends
      EXPECT_EQ(with_single_blanks(std::regex_replace(out, tag, "")), with_single_blanks(expected)) << html << "\n"
                                                                                                    << out;
    }
    expect_well_nested(out);
  }
  EXPECT_GT(with_tags, 1000U);
}

// The law of one sentence: its translation without the tags equals the translation of the sentence without tags.
TEST(InlineTags, ASentenceWithTagsIsTheSentenceWithout) {
  const auto translator = tiny_translator();
  decoding::SearchOptions aligned;
  aligned.output.alignment = true;
  base::Random random(5);
  const std::regex tag("<[^>]*>");
  for (int trial = 0; trial < 100; ++trial) {
    const std::string plain = decoding::random_line(random, 3 + random.below(6));
    std::string html;
    std::istringstream stream(plain);
    for (std::string word; stream >> word;) {
      html += html.empty() ? "" : " ";
      html += random.below(3) == 0 ? "<b>" + word + "</b>" : word;
    }
    const TextPlan plan = plan_html(html);
    std::vector<std::string> lines;
    for (const TextPlan::Piece& piece : plan.pieces) {
      if (piece.is_line) {
        lines.push_back(piece.text);
      }
    }
    const std::string out = assemble(plan, translator->translate(lines, aligned));
    EXPECT_EQ(std::regex_replace(out, tag, ""), escaped_html(translator->translate({&plain, 1}, {}).front().text));
    EXPECT_EQ(tags_of(out), tags_of(html));
  }
}

}  // namespace
}  // namespace dragoman::serving
