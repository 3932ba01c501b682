#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman::serving {

/// Where a character reference stands. HTML has 2,231 names, reads 106 of them without a semicolon, and reads the
/// numbers 128 to 159 as windows-1252. In an attribute, a name without a semicolon before "=" or a letter is text.
/// XML needs the semicolon, and reads numbers as they are. It has five names; here it has those of XHTML too.
enum class ReferencePlace { kHtmlText, kHtmlAttribute, kXml };

/// A character reference such as "&amp;" or "&#x27;".
struct CharacterReference {
  std::string characters;  ///< in UTF-8
  size_t size = 0;         ///< bytes of the reference
};

/// Returns the reference at the front of `text`, which begins with "&". Returns nothing if the "&" is text.
/// Source: WHATWG HTML Living Standard, sections 13.2.5.72 to 13.2.5.80 and 13.5; XML 1.0, sections 4.1 and 4.6.
[[nodiscard]] std::optional<CharacterReference> reference_at(std::string_view text, ReferencePlace place);

/// Returns `text` with its references decoded.
[[nodiscard]] std::string with_references_decoded(std::string_view text, ReferencePlace place);

}  // namespace dragoman::serving
