// Which parts of a text are translated, and that the rest is unchanged.
#include "serving/text/text_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/utf8.h"

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

// Every line in capitals and brackets. There is no alignment, so words are aligned by their relative positions.
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

// The tags of a text, sorted.
std::vector<std::string> tags_of(const std::string& html) {
  std::vector<std::string> tags;
  for (const HtmlToken& token : html_tokens(html, {})) {
    if (token.kind != HtmlToken::Kind::kText) {
      tags.emplace_back(token.bytes);
    }
  }
  std::ranges::sort(tags);
  return tags;
}

// Every end tag ends the last element that is open.
bool is_well_nested(const std::string& html) {
  std::vector<std::string> open;
  for (const HtmlToken& token : html_tokens(html, {})) {
    const bool is_end = token.bytes.starts_with("</");
    if (is_end && (open.empty() || open.back() != token.name)) {
      return false;
    }
    if (is_end) {
      open.pop_back();
    } else if (token.kind == HtmlToken::Kind::kStart || token.bytes == "<p>" || token.bytes == "<li>") {
      open.push_back(token.name);
    }
  }
  return open.empty();
}

TEST(TextPlan, LinesAreTranslatedAndBlanksStay) {
  EXPECT_EQ(shouted(plan_text("a b\r\n\n  \nc\n")), "[A B]\n\n  \n[C]\n");
  EXPECT_EQ(shouted(plan_text("😀")), "😀");
  EXPECT_EQ(shouted(plan_text("...")), "...");
  EXPECT_EQ(shouted(plan_text("")), "");
  EXPECT_EQ(shouted(plan_text("你好")), "[你好]");
}

TEST(TextPlan, BlanksAtTheEndsOfLinesStay) {
  for (const Sentences sentences : {Sentences::kApart, Sentences::kTogether}) {
    EXPECT_EQ(shouted(plan_text("- a\n  - b  \n\tc d\t\r\n \n e", sentences)), "[- A]\n  [- B]  \n\t[C D]\t\n \n [E]");
    EXPECT_EQ(shouted(plan_text("\u3000\u3000猫\u00a0", sentences)), "\u3000\u3000[猫]\u00a0");
    EXPECT_EQ(unchanged(plan_text("  a. B \n - \n", sentences)), "  a. B \n - \n");
  }
  EXPECT_EQ(shouted(plan_text("  A bb.\u00a0 C dd. ")), "  [A BB.]\u00a0 [C DD.] ");
}

TEST(TextPlan, SentencesOfALineAreTranslatedApart) {
  const auto lines = [](const std::string& text) { return lines_of(plan_text(text)); };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines("A bb. C d! E?  F"), (Lines{"A bb.", "C d!", "E?", "F"}));
  EXPECT_EQ(lines("He said \"go!\" Then (as ever) he went... Über alles."),
            (Lines{"He said \"go!\"", "Then (as ever) he went...", "Über alles."}));
  EXPECT_EQ(lines("我来了。你呢？好"), (Lines{"我来了。", "你呢？", "好"}));
  EXPECT_EQ(lines("A bb.\nC dd. E"), (Lines{"A bb.", "C dd.", "E"}));
  EXPECT_EQ(lines_of(plan_text("A bb. C d.", Sentences::kTogether)), Lines{"A bb. C d."});
  EXPECT_EQ(shouted(plan_text("A bb.  C d.\nE")), "[A BB.]  [C D.]\n[E]");
  EXPECT_EQ(shouted(plan_text("我。你")), "[我。] [你]") << "a space where the translation needs one";
  EXPECT_EQ(shouted(plan_text("Am 3. Mai", Sentences::kApart, "de")), "[AM 3. MAI]");
  EXPECT_EQ(shouted(plan_text("Am 3. Mai", Sentences::kApart, "en")), "[AM 3.] [MAI]");
  EXPECT_EQ(lines_of(plan_html("Am <b>3.</b> Mai", {}, Sentences::kApart, "de")), Lines{"Am 3. Mai"});
  EXPECT_EQ(lines_of(plan_html("Am <b>3.</b> Mai", {}, Sentences::kApart, "en")), (Lines{"Am 3.", "Mai"}));
  EXPECT_EQ(unchanged(plan_text("A bb.  C d. \nE。F")), "A bb.  C d. \nE。F");
  EXPECT_EQ(lines_of(plan_html("<p>A <b>bb. C</b> dd. <i>E</i> ff. <b>G!</b> H</p>")),
            (Lines{"A bb. C dd.", "E ff.", "G!", "H"}))
      << "an element that reaches over keeps two together";
  EXPECT_EQ(shouted(plan_html("A <b>b</b>! <i>C d</i>.")), "[A <b>B</b>!] [<i>C D</i>.]");
}

TEST(TextPlan, HtmlKeepsMarkupAndItsBlanks) {
  EXPECT_EQ(shouted(plan_html("<p>a &amp; b  <i>c</i>\n</p>")), "<p>[A &amp; <i>B</i> C]\n</p>")
      << "straight through the source, the fifth of six characters is its third";
  EXPECT_EQ(shouted(plan_html("<div> <a href=x> <b>a b</b> </a>\n<img> </div>")),
            "<div> <a href=x> <b>[A B]</b> </a>\n<img> </div>")
      << "tags around the whole line stay around it, and blanks where they are";
  EXPECT_EQ(shouted(plan_html("x &lt; y &gt; z")), "[X &lt; Y &gt; Z]");
  EXPECT_EQ(shouted(plan_html("&auml;&#x62;&#99;")), "[äBC]");
  EXPECT_EQ(shouted(plan_html("1 < 2 and a<b")), "[1 &lt; 2 AND A]<b") << "what begins like a tag is one";
  EXPECT_EQ(shouted(plan_html("<a title=\"x > y\">z</a>")), "<a title=\"x > y\">[Z]</a>");
  EXPECT_EQ(shouted(plan_html("&nbsp;")), "&nbsp;") << "nothing to translate stays byte for byte";
  EXPECT_EQ(shouted(plan_html("a&#10;b")), "[A B]") << "a line is a line";
}

TEST(TextPlan, SentencesEndAtBlocksAndNotAtTagsInside) {
  const auto lines = [](const std::string& html, const MarkupOptions& options = {}) {
    return lines_of(plan_html(html, options));
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines("I <b>really</b> like it"), Lines{"I really like it"});
  EXPECT_EQ(lines("<p>I <b>really</b><i> like</i>\n it</p><div>b</div>c<br>d<li>e"),
            (Lines{"I really like it", "b", "c", "d", "e"}));
  EXPECT_EQ(lines("a <b>b <i>c</b> d</i>"), (Lines{"a", "b", "c", "d"})) << "ill nested: piece by piece";
  EXPECT_EQ(lines("a <b>b<p>c</b> d"), (Lines{"a", "b", "c", "d"}));
  EXPECT_EQ(lines("a <code>x</code> b <span translate=\"no\">y</span>"), Lines{"a b"});
  EXPECT_EQ(lines("a <x>b</x> c"), (Lines{"a", "b", "c"})) << "no element of HTML";
  EXPECT_EQ(lines("a <x>b</x> c", {.non_splitting = {"x"}}), Lines{"a b c"});
  EXPECT_EQ(lines("a <b>b</b> c", {.splitting = {"b"}}), (Lines{"a", "b", "c"}));
  EXPECT_EQ(lines("<doc><title>A b</title>\n<par>C <x id=\"1\"/> d <g>e</g>.</par></doc>", {.is_xml = true}),
            (Lines{"A b", "C d e."}));
  std::string many = "a";
  for (int i = 0; i < 150; ++i) {
    many += " <b>b</b>";
  }
  EXPECT_EQ(lines(many).size(), 151U) << "too many tags: piece by piece";
}

TEST(TextPlan, WhatIsNoTextStays) {
  for (const std::string stays :
       {"<script>if (a < b) x('</p>')</script>", "<style>b { }</style>", "<!-- a", "<!doctype html>", "<pre>x\ny</pre>",
        "<div translate=\"no\">a <div>b</div> c</div>", "<span class='x notranslate'>b", "<?xml version=\"1.0\"?>",
        "<textarea>t</textarea>"}) {
    const bool ends = stays != "<!-- a" && !stays.ends_with("b");  // otherwise it includes the rest
    EXPECT_EQ(shouted(plan_html("m " + stays + " n")), "[M] " + stays + (ends ? " [N]" : " n"));
  }
  EXPECT_EQ(shouted(plan_html("a<br translate=no>b")), "[A]<br translate=no>[B]") << "br holds nothing";
  for (const std::string stays : {"<code>a <b>c</b></code>", "<span translate=\"no\">a <span>b</span> c</span>"}) {
    EXPECT_EQ(shouted(plan_html("m " + stays + " n")), "[M " + stays + " N]") << "a point of the sentence";
  }
  EXPECT_EQ(shouted(plan_html("a <x>b</x> c", {.left_alone = {"x"}})), "[A <x>b</x> C]");
  EXPECT_EQ(shouted(plan_html("a <pre>never ended")), "[A] <pre>never ended");
}

// The law of format=html: the output has each tag of the input once, and is well nested if the input is.
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
  base::Random random(3);
  size_t nested = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    std::string html;
    for (uint64_t i = random.below(14); i > 0; --i) {
      html += parts[random.below(parts.size())];
    }
    const TextPlan plan = plan_html(html);
    const std::string out = shouted(plan);
    EXPECT_EQ(unchanged(plan), html);
    EXPECT_EQ(tags_of(out), tags_of(html)) << html << "\n" << out;
    if (is_well_nested(html)) {
      ++nested;
      EXPECT_TRUE(is_well_nested(out)) << html << "\n" << out;
    }
    for (const std::string& line : lines_of(plan)) {
      EXPECT_EQ(line.find_first_of("\n\t"), std::string::npos) << html;
    }
  }
  EXPECT_GT(nested, 100U);
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
  EXPECT_EQ(base::count_characters("aä你😀"), 4U);
  EXPECT_EQ(base::count_characters(""), 0U);
}

}  // namespace
}  // namespace dragoman::serving
