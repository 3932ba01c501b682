// Markup as browsers and readers of XML see it: what reaches the model, and that everything else stays.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/random.h"
#include "html5lib_cases.h"
#include "markup_rules.h"

namespace dragoman::serving {
namespace {

using test_support::broken_markup_rule;
using test_support::echoes;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text, const MarkupOptions& options = {}) {
  Lines lines;
  for (const decoding::Translation& line : echoes(plan_html(text, options), false)) {
    lines.push_back(line.text);
  }
  return lines;
}

// Every line in capitals.
std::string loud(const std::string& text, const MarkupOptions& options = {}) {
  const TextPlan plan = plan_html(text, options);
  return assemble(plan, echoes(plan, true));
}

const MarkupOptions kXml{.is_xml = true};

TEST(Markup, TranslateIsAnAttribute) {
  for (const std::string said :
       {"<a href=\"?translate=no\">", "<a title=\"see translate=no\">", "<a href=/p?translate=no/ >",
        "<a translate=yes>", "<a translate=maybe>", "<a class=\"nottranslate no translate\">", "<a data-translate=no>",
        "<a xtranslate='no'>", "<a translate=yes translate=no>"}) {
    EXPECT_EQ(lines_of(said + "the cat</a>"), Lines{"the cat"}) << said;
  }
  for (const std::string said :
       {"<a translate = \"no\">", "<a translate=NO>", "<A TRANSLATE='no'>", "<a\ttranslate\n=\nno>",
        "<a href=x translate=no>", "<a translate=&#110;o>", "<a class=notranslate>", "<a class=\"x notranslate\ty\">",
        "<a translate=no translate=yes>", "<a/translate=no>"}) {
    EXPECT_EQ(lines_of(said + "the cat</a>"), Lines()) << said;
  }
  EXPECT_EQ(lines_of("<p class='notranslate'>a</p>b"), Lines{"b"});
}

TEST(Markup, QuotesMatterOnlyWhereAValueBegins) {
  EXPECT_EQ(lines_of("<img src='/i.jpg' alt='Ann's dog'>a<p>b</p>"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("<p title=don't>a</p><p>b</p>"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("<td width=5\">a</td><td>b</td>"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("<p a\"b='>'>a</p>"), Lines{"a"});
  EXPECT_EQ(lines_of("<font color=\"orange>a</font><p>b</p>"), Lines()) << "the value goes to the next quote";
}

TEST(Markup, ElementsEndWithoutEndTags) {
  const std::vector<std::pair<std::string, Lines>> cases = {
      {"<ul><li translate=no>x<li>a</ul><p>b", {"a", "b"}},
      {"<ul><li translate=no>x</ul>a", {"a"}},
      {"<ul><li translate=no>x<ul><li>y</ul>z<li>a</ul>", {"a"}},
      {"<table><tr><td translate=no>x<td>a</table>b", {"a", "b"}},
      {"<table><tr><th translate=no>x<td>a<tr><td>b</table>", {"a", "b"}},
      {"<table><tr translate=no><td>x<td>y<tr><td>a</table>b", {"a", "b"}},
      {"<table><thead translate=no><tr><th>x<tbody><tr><td>a</table>", {"a"}},
      {"<table><tr><td translate=no>x<table><tr><td>y</table>z<td>a</table>", {"a"}},
      {"<table><caption translate=no>x<tr><td>a</table>", {"a"}},
      {"<p translate=no>x<p>a", {"a"}},
      {"<p translate=no>x<div>a</div>", {"a"}},
      {"<div><p translate=no>x</div>a", {"a"}},
      {"<p translate=no>x <span>y<p>a", {"a"}},
      {"<div translate=no>x<p>y<p>z</div>a", {"a"}},
      {"<dl><dt translate=no>x<dd>a<dt>b<dd translate=no>y</dl>c", {"a", "b", "c"}},
      {"<select><option translate=no>x<option>a</select>b", {"a", "b"}},
      {"<select><optgroup translate=no><option>x<option>y<optgroup><option>a</select>", {"a"}},
      {"<ruby>a<rt translate=no>x<rp>b</ruby>c", {"a", "b", "c"}},
      {"<h1 translate=no>x<h2>a</h2>", {"a"}},
      {"<h1 translate=no>x</h2>a", {"a"}},
      {"<head translate=no><title>x</title><body>a", {"a"}},
      {"<a translate=no>x<a>a</a>", {"a"}},
      {"<p translate=no>x</b>y</p>a", {"a"}},
      {"<span translate=no><div>x</span>y</div></span>a", {"a"}},
      {"<b><p translate=no>x</b>y</p>a", {"a"}},
      {"<b translate=no>x<p>y</b>a</p>b", {"a", "b"}},
      {"<a>a<div translate=no>x<a>y</a></div>b</a>", {"a", "b"}},
      {"<div><b>a</div>b</b> c", {"a", "b", "c"}},
      {"<b>a<i translate=no>x</b>y</i>c", {"a", "c"}},
      {"<b translate=no>x<section class=notranslate>y</b>z</section>a", {"a"}},
      {"<b translate=no>x<i>y</b>a</i>b", {"a", "b"}},
      {"<head translate=no>a<p>b", {"a", "b"}},
      {"<rb translate=no>x<rb>y", {}},
      {"<html><body translate=no>x</body></html>y", {}},
      {"<br translate=no>a <img translate=no> b", {"a b"}},
      {"<svg><g translate=no/><text>a</text></svg>b", {"a", "b"}},
      {"<svg translate=no><text>x<p>a", {"a"}},
  };
  for (const auto& [html, lines] : cases) {
    EXPECT_EQ(lines_of(html), lines) << html;
    EXPECT_EQ(broken_markup_rule(html), "") << html;
  }
}

TEST(Markup, RawTextEndsAtItsFirstEndTag) {
  EXPECT_EQ(lines_of("<script>var s=\"<script src='a:b'></\"+\"script>\";</script><p>a</p>"), Lines{"a"});
  EXPECT_EQ(lines_of("<style>/* <style */ p {}</style><p>a</p>"), Lines{"a"});
  EXPECT_EQ(lines_of("<textarea><textarea></textarea><p>a</p>"), Lines{"a"});
  EXPECT_EQ(lines_of("<script><!-- <script>x</script> --></script>a"), Lines{"a"});
  EXPECT_EQ(lines_of("<title>a <b> c</title>d"), (Lines{"a <b> c", "d"}));
  EXPECT_EQ(loud("<title>a <b> c</title>"), "<title>A &lt;B&gt; C</title>");
  for (const std::string name : {"xmp", "iframe", "noembed", "noframes", "plaintext"}) {
    EXPECT_EQ(lines_of("a<" + name + ">x <p>y"), Lines{"a"}) << name;
  }
}

TEST(Markup, CommentsEndWhereBrowsersEndThem) {
  EXPECT_EQ(lines_of("<!--><p>a</p>"), Lines{"a"});
  EXPECT_EQ(lines_of("<!---><p>a</p>"), Lines{"a"});
  EXPECT_EQ(lines_of("<!-- x --!><p>a</p>"), Lines{"a"});
  EXPECT_EQ(lines_of("a <!-- > --> b"), Lines{"a b"});
  EXPECT_EQ(lines_of("a <? x > b </ y > c"), (Lines{"a", "b", "c"}));
}

TEST(Markup, ReferencesAreThoseOfTheStandard) {
  EXPECT_EQ(lines_of("M&aacute;laga 20&deg;C &pound5 &NotEqualTilde;"), Lines{"Málaga 20°C £5 ≂̸"});
  EXPECT_EQ(lines_of("ab &copy 20 &#150; &#0000000000065; &#x1F600"), Lines{"ab © 20 – A 😀"});
  EXPECT_EQ(lines_of("x &none; &amp;lt; &#; &#xg; &"), Lines{"x &none; &lt; &#; &#xg; &"});
  EXPECT_EQ(loud("a&nbsp;b &eacute;"), "A\u00A0B é") << "decoded in a line that changes";
  EXPECT_EQ(loud("1&nbsp;000 &euro;"), "1&nbsp;000 &euro;") << "as they were in a line that does not";
}

TEST(Markup, WhatStaysInsideASentenceIsAPointOfIt) {
  EXPECT_EQ(lines_of("The <x>cat</x> slept in the tent.", {.left_alone = {"x"}}), Lines{"The slept in the tent."});
  EXPECT_EQ(loud("The <x>cat</x> slept.", {.left_alone = {"x"}}), "THE <x>cat</x> SLEPT.");
  EXPECT_EQ(loud("The <x>cat</x> slept.", {.is_xml = true, .left_alone = {"x"}}), "THE <x>cat</x> SLEPT.");
  EXPECT_EQ(loud("<p>It slept in the <code>tent</code>.</p>"), "<p>IT SLEPT IN THE <code>tent</code>.</p>");
  EXPECT_EQ(loud("by <span class=\"notranslate\">Ann <b>B</b></span>, then"),
            "BY <span class=\"notranslate\">Ann <b>B</b></span>, THEN");
  EXPECT_EQ(loud("<b>go <x>1</x> on</b> <x>2</x> <x/> end", {.left_alone = {"x"}}),
            "<b>GO <x>1</x> ON</b> <x>2</x> <x/> END");
  EXPECT_EQ(loud("go <button translate=no>OK</button> now"), "GO <button translate=no>OK</button> NOW");
  EXPECT_EQ(lines_of("<body translate='no'>x</body>", kXml), Lines());
  EXPECT_EQ(lines_of("go to <code>x</code>!? Or <code>y</code>.txt"), (Lines{"go to!?", "Or .txt"}));
  EXPECT_EQ(lines_of("a <pre>x</pre> b <code>y"), (Lines{"a", "b"})) << "blocks, and elements without an end";
  EXPECT_EQ(lines_of("a <x>b</x> c", {.left_alone = {"x"}, .splitting = {"x"}}), (Lines{"a", "c"}));
}

TEST(Markup, TranslationIsTurnedOnAgainInside) {
  const std::string html = "<div translate=\"no\">The cat. <span translate=\"yes\">a b</span> slept</div>";
  EXPECT_EQ(lines_of(html), Lines{"a b"});
  EXPECT_EQ(loud(html), "<div translate=\"no\">The cat. <span translate=\"yes\">A B</span> slept</div>");
  EXPECT_EQ(lines_of("a <span translate=no>x <b translate>b</b> y</span> c"), (Lines{"a", "b", "c"}));
  EXPECT_EQ(lines_of("<code translate=yes>a</code> <code>x</code>"), Lines{"a"});
  EXPECT_EQ(lines_of("<x><b translate=yes>x</b></x>", {.left_alone = {"x"}}), Lines());
}

TEST(Markup, NumberedTagsAreTagsOnBothSides) {
  EXPECT_EQ(lines_of("ab <0>cd</0> ef"), Lines{"ab cd ef"});
  EXPECT_EQ(loud("ab <0>cd <1>x</1></0> <12/> ef"), "AB <0>CD <1>X</1></0> <12/> EF");
  EXPECT_EQ(loud("ab <0>cd <code>x</code></0> ef"), "AB <0>CD <code>x</code></0> EF");
  EXPECT_EQ(loud("1 <2> 3 a"), "1 &lt;2&gt; 3 A") << "text without an end tag";
  EXPECT_EQ(loud("a </2> b"), "A </2> B");
}

TEST(Markup, XmlIsReadByItsOwnRules) {
  for (const std::string xml :
       {"<p><![CDATA[ab > cd]]></p>", "<p>ab <?x a->b ?> cd</p>", "<!DOCTYPE p [<!ENTITY e \"ab\">]><p>cd</p>",
        "ab <_x/> cd <_y>ef</_y>", "<größe>a</größe> <名:b>c</名:b>", "ab &brand; cd",
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!DOCTYPE p SYSTEM 'http://x.example/y.dtd' "
        "[<!ENTITY e 'ab'><!-- > --><?z ]> ?> ]>\n<!-- c --><p a='&e;&x;'>é &e; &#233; a</p>\n",
        "\n <?xml version='1.0'?><p>a</p>", "<p title='a > b'>c</p>", "a <b/>b", "", " "}) {
    EXPECT_EQ(broken_markup_rule(xml, kXml), "") << xml;
  }
  EXPECT_EQ(loud("<p>ab <![CDATA[x > y]]> cd <?x a->b ?> ef</p>", kXml),
            "<p>AB <![CDATA[x > y]]> CD <?x a->b ?> EF</p>");
  EXPECT_EQ(loud("ab &brand; cd &amp; &#101; f", kXml), "AB &brand; CD &amp; E F");
  EXPECT_EQ(lines_of("caf&eacute;s &brand;", kXml), Lines{"cafés"}) << "a character of XHTML";
  EXPECT_EQ(lines_of("<!DOCTYPE p [<!ENTITY eacute 'x'>]><p>caf &eacute; s</p>", kXml), Lines{"caf s"})
      << "what the text declares is its own";
  EXPECT_EQ(lines_of("<!DOCTYPE p [<!ENTITY e \"ab\">]><p>cd &e; ef</p>", kXml), Lines{"cd ef"}) << "none is expanded";
  EXPECT_EQ(lines_of("ab <_x/> cd <_y>ef</_y>", kXml), Lines{"ab cd ef"});
  EXPECT_EQ(lines_of("<X>The cat</X> <x>slept</x>", {.is_xml = true, .left_alone = {"X"}}), Lines{"slept"});
}

TEST(Markup, XmlThatIsNotWellFormedIsRefusedWithItsPlace) {
  const auto refusal = [](const std::string& xml) {
    try {
      static_cast<void>(plan_html(xml, kXml));
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string begin = "Tag handling parsing failed, please check input: ";
  EXPECT_EQ(refusal("<a>é\n x</b>"), begin + "mismatched tag at line 2, column 5");
  EXPECT_EQ(refusal("ab <b>cd"), begin + "mismatched tag at line 1, column 9");
  for (const std::string xml : {"a & b", "a < b", "<a b=c>", "<a b='<'/>", "</a>", "<a/></text>", "</text><text>",
                                "<?xml version='1.0'?><a/>b", "<0>a</0>", "<a b='1' b='2'/>", "a ]]> b"}) {
    EXPECT_EQ(refusal(xml).substr(0, begin.size()), begin) << xml;
  }
  std::string bomb = "<!DOCTYPE a [<!ENTITY e0 'aaaaaaaaaa'>";
  for (int i = 1; i < 12; ++i) {
    const std::string inner = "&e" + std::to_string(i - 1) + ";";
    bomb += "<!ENTITY e" + std::to_string(i) + " '";
    for (int k = 0; k < 10; ++k) {
      bomb += inner;
    }
    bomb += "'>";
  }
  EXPECT_EQ(broken_markup_rule(bomb + "]><a>x &e11; y</a>", kXml), "") << "not expanded";
  EXPECT_NE(refusal(bomb + "]><a b='&e11;'/>"), "") << "expanded, and stopped early";
}

// A random page. Each word has its own number, and the page knows which words are to be translated.
class RandomPage {
 public:
  explicit RandomPage(uint64_t seed) : random_(seed) {}

  std::string content(int depth, bool translates) {
    std::string html;
    for (uint64_t i = random_.below(5); i > 0; --i) {
      const uint64_t kind = random_.below(depth > 4 ? 3 : 9);
      html += kind < 3    ? words(translates)
              : kind == 3 ? raw()
              : kind == 4 ? items(depth, translates)
                          : element(depth, translates);
    }
    return html;
  }

  std::u32string wanted;

 private:
  std::string words(bool translates) {
    constexpr const char* kBetween[] = {" ",  "\n", ", ", "&nbsp;", " &lt; ", "<br>", "<!-- w -->", "<img alt='w'>",
                                        ". A"};
    const std::string word = "w" + std::to_string(word_++) + "x";
    const std::string between = kBetween[random_.below(9)];
    const std::string seen = word + (between == ". A" ? "A" : "");
    wanted += translates ? base::decode_utf8(seen) : std::u32string();
    return word + between;
  }

  std::string raw() {
    constexpr const char* kRaw[] = {"<script>w<b></script>",
                                    "<style>w</p></style>",
                                    "<textarea>w<p></textarea>",
                                    "<script><!--<script>w</script>--></script>",
                                    "<?w>",
                                    "</ w>"};
    return kRaw[random_.below(6)];
  }

  // An attribute that may change whether the content is translated.
  std::string said(bool& translates) {
    switch (random_.below(6)) {
      case 0:
        translates = false;
        return random_.below(2) == 0 ? " translate=no" : " class='a notranslate'";
      case 1:
        translates = true;
        return " title='x>y' translate=\"yes\"";
      default:
        return random_.below(2) == 0 ? "" : " title=don't href='?translate=no'";
    }
  }

  std::string element(int depth, bool translates) {
    constexpr const char* kNames[] = {"a", "b", "span", "div", "section", "custom-x", "blockquote", "code"};
    const std::string name = kNames[random_.below(8)];
    translates = translates && name != "code";
    const std::string tag = "<" + name + said(translates) + ">";
    return tag + content(depth + (name == "a" ? 9 : 1), translates) + "</" + name + ">";
  }

  // Elements whose end tags may be left out.
  std::string items(int depth, bool translates) {
    constexpr std::pair<const char*, std::array<const char*, 2>> kLists[] = {{"ul", {"li", "li"}},
                                                                             {"dl", {"dt", "dd"}},
                                                                             {"tr", {"td", "th"}},
                                                                             {"select", {"option", "option"}},
                                                                             {"div", {"p", "p"}}};
    const auto& [list, names] = kLists[random_.below(5)];
    const bool is_row = list == std::string("tr");
    std::string html = is_row ? "<table><tr>" : "<" + std::string(list) + ">";
    const bool is_flat = names[0] == std::string("p") || names[0] == std::string("option");
    for (uint64_t i = random_.below(4); i > 0; --i) {
      const std::string name = names[random_.below(2)];
      bool inner = translates;
      html += "<" + name + said(inner) + ">";
      html += is_flat ? words(inner) : content(depth + 1, inner);
      html += random_.below(2) == 0 ? "</" + name + ">" : "";
    }
    return html + (is_row ? "</table>" : "</" + std::string(list) + ">");
  }

  base::Random random_;
  int word_ = 0;
};

TEST(Markup, EachWordReachesTheModelOnceUnlessItStays) {
  size_t letters = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    RandomPage page(seed);
    const std::string html = page.content(0, true);
    std::u32string seen;
    for (const std::string& line : lines_of(html)) {
      seen += test_support::letters_of(line);
    }
    ASSERT_EQ(base::encode_utf8(seen), base::encode_utf8(page.wanted)) << html;
    ASSERT_EQ(broken_markup_rule(html), "") << html;
    letters += seen.size();
  }
  EXPECT_GT(letters, 30000U);
}

TEST(Markup, AllInputsOfHtml5libKeepTheRules) {
  const auto cases = test_support::html5lib_cases();
  if (cases.empty()) {
    GTEST_SKIP() << test_support::missing_html5lib();
  }
  for (const test_support::Html5libCase& one : cases) {
    const std::string text = base::repair_utf8(one.input);
    ASSERT_EQ(broken_markup_rule(text), "") << one.file << ": " << text;
  }
}

// The pages that the machine has: those of its packages.
TEST(Markup, PagesKeepTheRules) {
  const std::filesystem::path folder = "/usr/share/doc";
  size_t pages = 0;
  constexpr uintmax_t kMost = 100000;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, options, error)) {
    if (entry.path().extension() != ".html" || !entry.is_regular_file() || entry.file_size() > kMost || pages == 100) {
      continue;
    }
    std::ifstream file(entry.path());
    const std::string text = base::repair_utf8(std::string(std::istreambuf_iterator<char>(file), {}));
    EXPECT_EQ(broken_markup_rule(text), "") << entry.path();
    ++pages;
  }
  if (pages == 0) {
    GTEST_SKIP() << "no *.html in " << folder << "; a Debian package with pages, such as libboost-dev, brings some";
  }
}

TEST(Markup, AnyTextKeepsTheRules) {
  const std::vector<std::string> parts = {"<",
                                          ">",
                                          "</",
                                          "/>",
                                          "<!--",
                                          "-->",
                                          "--!>",
                                          "<!",
                                          "<?",
                                          "?>",
                                          "]]>",
                                          "<![CDATA[",
                                          "<!DOCTYPE x>",
                                          "=",
                                          "\"",
                                          "'",
                                          "&",
                                          "&amp;",
                                          "&notin",
                                          "&#150;",
                                          "&#x",
                                          ";",
                                          " ",
                                          "\n",
                                          "\r\n",
                                          "a",
                                          "B c. D",
                                          "é",
                                          "。我",
                                          "0",
                                          "<0>",
                                          "</0>",
                                          "<1/>",
                                          "<b>",
                                          "</b>",
                                          "<b ",
                                          "<p>",
                                          "</p>",
                                          "<li>",
                                          "<ul>",
                                          "</ul>",
                                          "<td>",
                                          "<table>",
                                          "</table>",
                                          "<svg>",
                                          "</svg>",
                                          "<title>",
                                          "</title>",
                                          "<script>",
                                          "</script>",
                                          "<style>",
                                          "</style",
                                          "<textarea>",
                                          "</textarea>",
                                          "<code>",
                                          "</code>",
                                          "<x>",
                                          "</x>",
                                          "<x/>",
                                          "<img src=a>",
                                          " translate=no",
                                          " translate=yes",
                                          " class=notranslate",
                                          "<span translate=no>",
                                          "</span>",
                                          "<b translate=yes>",
                                          "<plaintext>",
                                          "<a>",
                                          "</a>",
                                          std::string(1, '\0')};
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    base::Random random(seed);
    std::string text;
    for (uint64_t i = random.below(16); i > 0; --i) {
      text += parts[random.below(parts.size())];
    }
    MarkupOptions options{.is_xml = random.below(4) == 0};
    options.left_alone = random.below(2) == 0 ? std::vector<std::string>() : std::vector<std::string>{"x", "b"};
    try {
      ASSERT_EQ(broken_markup_rule(text, options), "") << "seed " << seed << ": " << text;
    } catch (const base::Error&) {
      EXPECT_TRUE(options.is_xml) << text;
    }
  }
}

}  // namespace
}  // namespace dragoman::serving
