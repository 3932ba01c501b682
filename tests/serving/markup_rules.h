#pragma once

#include <unicode/uchar.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "serving/text/html_text.h"
#include "serving/text/text_plan.h"

namespace dragoman::test_support {

/// Returns the lines of a plan as their own translations, or in capitals. There is no alignment, so words are aligned
/// by their relative positions.
inline std::vector<decoding::Translation> echoes(const serving::TextPlan& plan, bool in_capitals) {
  std::vector<decoding::Translation> lines;
  for (const serving::TextPlan::Piece& piece : plan.pieces) {
    if (piece.is_line) {
      decoding::Translation line;
      line.text = piece.text;
      std::ranges::transform(line.text, line.text.begin(),
                             [&](char c) { return in_capitals && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
      lines.push_back(line);
    }
  }
  return lines;
}

/// Returns the letters and digits of a text, without what is between them.
inline std::u32string letters_of(const std::string& text) {
  std::u32string letters;
  std::ranges::copy_if(base::decode_utf8(text), std::back_inserter(letters),
                       [](char32_t c) { return u_isalnum(static_cast<UChar32>(c)) != 0; });
  return letters;
}

/// Returns everything but the texts, sorted.
inline std::vector<std::string> markup_of(const std::string& text, const serving::MarkupOptions& options) {
  std::vector<std::string> markup;
  for (const serving::HtmlToken& token : serving::html_tokens(text, options)) {
    if (token.kind != serving::HtmlToken::Kind::kText) {
      markup.emplace_back(token.bytes);
    }
  }
  std::ranges::sort(markup);
  return markup;
}

/// Returns the rule that the translation of `text`, valid UTF-8 with markup, breaks. Empty if it keeps all of them.
/// Throws: as xml_lexemes.
inline std::string broken_markup_rule(const std::string& text, const serving::MarkupOptions& options = {}) {
  const auto place = options.is_xml ? serving::ReferencePlace::kXml : serving::ReferencePlace::kHtmlText;
  std::string all;
  std::u32string wanted;
  for (const serving::HtmlToken& token : serving::html_tokens(text, options)) {
    all += token.bytes;
    if (token.kind == serving::HtmlToken::Kind::kText) {
      wanted += letters_of(serving::with_references_decoded(token.bytes, place));
    }
  }
  if (all != text) {
    return "the tokens are the text, byte for byte";
  }
  const serving::TextPlan plan = serving::plan_html(text, options);
  std::u32string seen;
  for (const serving::TextPlan::Piece& piece : plan.pieces) {
    seen += piece.is_line ? letters_of(piece.text) : std::u32string();
  }
  if (seen != wanted) {
    return "each word of the text reaches the model once";
  }
  if (serving::assemble(plan, echoes(plan, false)) != text) {
    return "a translation that copies gives the text back, byte for byte";
  }
  const std::string loud = serving::assemble(plan, echoes(plan, true));
  return markup_of(loud, options) == markup_of(text, options) ? "" : "each tag comes out once";
}

}  // namespace dragoman::test_support
