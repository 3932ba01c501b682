#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// The options for reading markup. The names of elements are in lower case for HTML, and as written for XML.
struct MarkupOptions {
  /// XML has no predefined elements. An element is part of a sentence if words stand beside it in its parent element.
  bool is_xml = false;
  std::vector<std::string> left_alone = {};     ///< elements whose content is not translated
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
    kKept,   ///< an element, or a section of XML, that is not translated and may stand inside a sentence
    kBreak,  ///< ends a sentence: tags of blocks, declarations, other untranslated elements, markup without an end
  };
  Kind kind;
  std::string_view bytes;
  std::string name = {};  ///< of a tag
};

/// Cuts a text into words and markup, as HtmlTokenizer or xml_lexemes reads it. Not translated is the content of
/// - elements with translate="no" or the class notranslate,
/// - code and pre, unless they have translate="yes",
/// - script, style, textarea, xmp, iframe, noembed, noframes, plaintext, and the elements `left_alone`, always.
/// translate="yes" inside the first two is translated again. An element that is not translated is one kKept, or one
/// kBreak if it is a block, has no end tag, or has translated parts. In HTML an end tag may be left out (ElementStack).
/// Tags with a number for a name, "<0>" with its "</0>" and "<0/>", count as markup inside a sentence.
/// Throws: as xml_lexemes.
[[nodiscard]] std::vector<HtmlToken> html_tokens(std::string_view html, const MarkupOptions& options);

}  // namespace dragoman::serving
