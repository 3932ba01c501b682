#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// How markup is read.
struct MarkupOptions {
  /// XML knows no names of its own: an element is part of a sentence when words stand beside it in the element around.
  bool is_xml = false;
  /// Names of elements, in lower case: whose content stays as it is, beside those that always do; that end a sentence;
  /// that never do.
  std::vector<std::string> left_alone = {};
  std::vector<std::string> splitting = {};
  std::vector<std::string> non_splitting = {};
};

/// A part of a text with markup. All parts together are the text, byte for byte.
struct HtmlToken {
  enum class Kind {
    kText,
    kStart,  ///< a start tag that may stand inside a sentence
    kEnd,    ///< its end tag
    kPoint,  ///< what holds no words and may stand inside a sentence: <img>, <wbr>, <x/>, a comment
    kBreak,  ///< ends a sentence: tags of blocks, declarations, elements whose content stays, what never ends
  };
  Kind kind;
  std::string_view bytes;
  std::string name = {};  ///< of a tag, lower case
};

/// Cuts a text into words and markup. Tags are those of HTML, section 13.1.2, read leniently: a "<" that begins no tag
/// is text, quotes hide a ">". Content of script, style, code, pre, textarea and of elements that say translate="no" is
/// one kBreak with their tags.
std::vector<HtmlToken> html_tokens(std::string_view html, const MarkupOptions& options);

}  // namespace dragoman::serving
