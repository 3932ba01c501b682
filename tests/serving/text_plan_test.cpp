// What of a text is translated, and that the rest stays.
#include "serving/text_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/random.h"

namespace dragoman::serving {
namespace {

std::vector<std::string> lines_of(const TextPlan& plan) {
  std::vector<std::string> lines;
  for (const TextPlan::Piece& piece : plan.pieces) {
    if (piece.is_line) {
      lines.push_back(piece.text);
    }
  }
  return lines;
}

// Every line in capitals and brackets.
std::string shouted(const TextPlan& plan) {
  std::vector<decoding::Translation> translations;
  for (std::string line : lines_of(plan)) {
    std::ranges::transform(line, line.begin(), [](unsigned char c) { return c < 0x80 ? std::toupper(c) : c; });
    decoding::Translation translation;
    translation.text = "[" + line + "]";
    translations.push_back(translation);
  }
  return assemble(plan, translations);
}

TEST(TextPlan, LinesAreTranslatedAndBlanksStay) {
  EXPECT_EQ(shouted(plan_text("a b\r\n\n  \nc\n")), "[A B]\n\n  \n[C]\n");
  EXPECT_EQ(shouted(plan_text("😀")), "😀");
  EXPECT_EQ(shouted(plan_text("...")), "...");
  EXPECT_EQ(shouted(plan_text("")), "");
  EXPECT_EQ(shouted(plan_text("你好")), "[你好]");
}

TEST(TextPlan, HtmlKeepsMarkupAndItsBlanks) {
  EXPECT_EQ(shouted(plan_html("<p>a &amp; b  <i>c</i>\n</p>")), "<p>[A &amp; B]  <i>[C]</i>\n</p>");
  EXPECT_EQ(shouted(plan_html("x &lt; y &gt; z")), "[X &lt; Y &gt; Z]");
  EXPECT_EQ(shouted(plan_html("&auml;&#x62;&#99;")), "[äBC]");
  EXPECT_EQ(shouted(plan_html("1 < 2 and a<b")), "[1 &lt; 2 AND A]<b") << "what begins like a tag is one";
  EXPECT_EQ(shouted(plan_html("<a title=\"x > y\">z</a>")), "<a title=\"x > y\">[Z]</a>");
  EXPECT_EQ(shouted(plan_html("&nbsp;")), "&nbsp;") << "nothing to translate stays byte for byte";
}

TEST(TextPlan, WhatIsNoTextStays) {
  for (const std::string stays :
       {"<script>if (a < b) x('</p>')</script>", "<style>b { }</style>", "<!-- a -->", "<!doctype html>",
        "<code>a <b>c</b></code>", "<pre>x\ny</pre>", "<span translate=\"no\">a <span>b</span> c</span>",
        "<?xml version=\"1.0\"?>", "<textarea>t</textarea>"}) {
    EXPECT_EQ(shouted(plan_html("m " + stays + " n")), "[M] " + stays + " [N]");
  }
  EXPECT_EQ(shouted(plan_html("a<br translate=no>b")), "[A]<br translate=no>[B]") << "br holds nothing";
  EXPECT_EQ(shouted(plan_html("a <x>b</x> c", {"x"})), "[A] <x>b</x> [C]");
  EXPECT_EQ(shouted(plan_html("a <pre>never ended")), "[A] <pre>never ended");
}

// The law of format=html: the tags that come out are those that went in, in their order.
TEST(TextPlan, TagsOutAreTagsInForAnyText) {
  const std::vector<std::string> parts = {"<p>",
                                          "</p>",
                                          "<b class='x'>",
                                          "</b>",
                                          "<br/>",
                                          "word",
                                          " ",
                                          "\n",
                                          "&amp;",
                                          "&",
                                          "<",
                                          ">",
                                          "\"",
                                          "'",
                                          "<!--",
                                          "-->",
                                          "<img alt=\"a>b\">",
                                          "ä",
                                          "&#60;b&#62;",
                                          "<script>",
                                          "</script>",
                                          "1 < 2",
                                          "<i",
                                          "a=b",
                                          "</",
                                          "<!x>",
                                          "translate=no"};
  const std::regex tag("<[a-zA-Z/!?][^>]*>");
  base::Random random(3);
  for (int trial = 0; trial < 5000; ++trial) {
    std::string html;
    for (uint64_t i = random.below(14); i > 0; --i) {
      html += parts[random.below(parts.size())];
    }
    const TextPlan plan = plan_html(html);
    std::string markup_in;
    for (const TextPlan::Piece& piece : plan.pieces) {
      markup_in += piece.is_line ? "" : piece.text;
    }
    const std::string out = shouted(plan);
    const TextPlan again = plan_html(out);
    std::string markup_out;
    for (const TextPlan::Piece& piece : again.pieces) {
      markup_out += piece.is_line ? "" : piece.text;
    }
    EXPECT_EQ(markup_out, markup_in) << html << "\n" << out;
    for (const std::string& line : lines_of(plan)) {
      EXPECT_EQ(line.find_first_of("\n\t"), std::string::npos) << html;
    }
  }
}

TEST(TextPlan, AlternativesAreOtherTexts) {
  decoding::Translation line;
  line.text = "a";
  for (const std::string text : {"b", "a", "c", "c"}) {
    decoding::Translation alternative;
    alternative.text = text;
    line.alternatives.push_back(alternative);
  }
  const std::vector<decoding::Translation> lines = {line};
  EXPECT_EQ(alternatives_of(plan_text("x"), lines, 3), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(alternatives_of(plan_text("x"), lines, 9), (std::vector<std::string>{"b", "c"}));
  EXPECT_TRUE(alternatives_of(plan_text("x"), lines, 0).empty());
}

TEST(TextPlan, CountsCharacters) {
  EXPECT_EQ(count_characters("aä你😀"), 4U);
  EXPECT_EQ(count_characters(""), 0U);
}

}  // namespace
}  // namespace dragoman::serving
