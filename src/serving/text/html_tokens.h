#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// The options for reading markup.
struct MarkupOptions {
  /// XML has no predefined elements. An element is part of a sentence if words stand beside it in its parent element.
  bool is_xml = false;
  std::vector<std::string> left_alone = {};     ///< elements, in lower case, whose content is not translated
  std::vector<std::string> splitting = {};      ///< elements that end a sentence
  std::vector<std::string> non_splitting = {};  ///< elements that never end a sentence
};

/// A part of a text with markup. All tokens together are the text, byte for byte.
struct HtmlToken {
  enum class Kind {
    kText,
    kStart,  ///< a start tag that may stand inside a sentence
    kEnd,    ///< its end tag
    kPoint,  ///< markup without words that may stand inside a sentence: <img>, <wbr>, <x/>, a comment
    kBreak,  ///< ends a sentence: tags of blocks, declarations, untranslated elements, markup without an end
  };
  Kind kind;
  std::string_view bytes;
  std::string name = {};  ///< of a tag, in lower case
};

/// Cuts a text into words and markup. Tags are read leniently: a "<" that begins no tag is text, and a ">" in quotes
/// ends no tag. The elements script, style, code, pre, textarea and those with translate="no" become one kBreak with
/// their content.
/// Source: HTML Living Standard, section 13.1.2.
[[nodiscard]] std::vector<HtmlToken> html_tokens(std::string_view html, const MarkupOptions& options);

}  // namespace dragoman::serving
