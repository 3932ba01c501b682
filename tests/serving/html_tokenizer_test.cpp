// The tokenizer of HTML against the cases of html5lib, and its lexemes against the bytes of the input.
#include "serving/text/html_tokenizer.h"

#include <gtest/gtest.h>

#include "html5lib_cases.h"
#include "serving/text/character_references.h"
#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

using test_support::Html5libCase;
using test_support::json;

HtmlContent content_of(const std::string& state) {
  return state == "RCDATA state"          ? HtmlContent::kRcdata
         : state == "RAWTEXT state"       ? HtmlContent::kRawtext
         : state == "Script data state"   ? HtmlContent::kScript
         : state == "PLAINTEXT state"     ? HtmlContent::kPlaintext
         : state == "CDATA section state" ? HtmlContent::kCdata
                                          : HtmlContent::kData;
}

json or_null(const std::optional<std::string>& text) {
  return text ? json(*text) : json();
}

// Appends characters, to the last token if that has characters too.
void add_characters(json& tokens, const std::string& text) {
  if (text.empty()) {
    return;
  }
  if (!tokens.empty() && tokens.back()[0] == "Character") {
    tokens.back()[1] = tokens.back()[1].get<std::string>() + text;
  } else {
    tokens.push_back({"Character", text});
  }
}

json start_tag(const Lexeme& lexeme) {
  json attributes = json::object();
  for (const Lexeme::Attribute& attribute : lexeme.attributes) {
    attributes[attribute.name] = attribute.value;
  }
  json token = {"StartTag", lexeme.name, attributes};
  if (lexeme.is_self_closing) {
    token.push_back(true);
  }
  return token;
}

// The characters that HTML reads in the bytes of a text.
std::string characters_of(std::string_view bytes, HtmlContent content) {
  if (content == HtmlContent::kData) {
    return with_references_decoded(bytes, ReferencePlace::kHtmlText);
  }
  const std::string text = without_nul(bytes);
  return content == HtmlContent::kRcdata ? with_references_decoded(text, ReferencePlace::kHtmlText) : text;
}

// Reads `input` as the case says. Returns its tokens as html5lib writes them, and checks the bytes.
json tokens_of(const std::string& input, const std::string& state, const std::string& last_start_tag) {
  HtmlContent content = content_of(state);
  HtmlTokenizer tokenizer(input);
  tokenizer.set_content(content, last_start_tag);
  json tokens = json::array();
  std::string all;
  while (const auto lexeme = tokenizer.next()) {
    EXPECT_EQ(lexeme->bytes.data(), input.data() + all.size()) << input;
    EXPECT_FALSE(lexeme->bytes.empty()) << input;
    all += lexeme->bytes;
    switch (lexeme->kind) {
      case Lexeme::Kind::kText:
        add_characters(tokens, characters_of(lexeme->bytes, content));
        continue;
      case Lexeme::Kind::kCdata:
        add_characters(tokens, lexeme->data);
        break;
      case Lexeme::Kind::kStartTag:
        tokens.push_back(start_tag(*lexeme));
        break;
      case Lexeme::Kind::kEndTag:
        tokens.push_back({"EndTag", lexeme->name});
        break;
      case Lexeme::Kind::kDoctype:
        tokens.push_back({"DOCTYPE", or_null(lexeme->doctype.name), or_null(lexeme->doctype.public_id),
                          or_null(lexeme->doctype.system_id), lexeme->doctype.is_correct});
        break;
      case Lexeme::Kind::kDropped:
        break;
      default:
        tokens.push_back({"Comment", lexeme->data});
    }
    content = HtmlContent::kData;
  }
  EXPECT_EQ(all, input);
  return tokens;
}

// CR LF and CR are read as LF.
std::string with_line_feeds(std::string text) {
  for (size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at)) {
    text.replace(at, text.substr(at, 2) == "\r\n" ? 2 : 1, "\n");
  }
  return text;
}

TEST(HtmlTokenizer, ReadsAllCasesOfHtml5lib) {
  const auto cases = test_support::html5lib_cases();
  if (cases.empty()) {
    GTEST_SKIP() << test_support::missing_html5lib();
  }
  size_t checked = 0;
  for (const Html5libCase& one : cases) {
    for (const std::string& state : one.states) {
      tokens_of(one.input, state, one.last_start_tag);  // checks the bytes
      if (one.has_tokens) {
        ++checked;
        EXPECT_EQ(tokens_of(with_line_feeds(one.input), state, one.last_start_tag), one.tokens)
            << one.file << ": " << one.description << "\n"
            << state << ", input: " << one.input;
      }
    }
  }
  EXPECT_GT(checked, 6000U);
}

TEST(HtmlTokenizer, ReadsSectionsOnlyInForeignContent) {
  HtmlTokenizer html("<![CDATA[a>b]]>");
  EXPECT_EQ(html.next()->bytes, "<![CDATA[a>");
  HtmlTokenizer foreign("<![CDATA[a>b]]>c");
  foreign.set_has_cdata(true);
  EXPECT_EQ(foreign.next()->data, "a>b");
  EXPECT_EQ(foreign.next()->bytes, "c");
}

TEST(CharacterReferences, XmlNeedsSemicolonsAndReadsNumbersAsTheyAre) {
  const auto xml = [](std::string_view text) { return with_references_decoded(text, ReferencePlace::kXml); };
  EXPECT_EQ(xml("&amp;&lt;&gt;&quot;&apos;&#65;&#x42;"), "&<>\"'AB");
  EXPECT_EQ(xml("&eacute;&ltx;&brand;&eacute &lt"), "é&ltx;&brand;&eacute &lt");
  EXPECT_EQ(xml("&#150;"), "\u0096");
  EXPECT_EQ(with_references_decoded("&#150;", ReferencePlace::kHtmlText), "–");
}

}  // namespace
}  // namespace dragoman::serving
