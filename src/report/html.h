#pragma once

#include <string>
#include <string_view>

#include "base/utf8.h"

namespace dragoman::report {

/// Returns `text` in a form that is safe between tags and inside quoted attributes of HTML, XML and SVG. The characters
/// & < > " ' become entities, ill-formed UTF-8 becomes U+FFFD, and control characters that XML forbids become spaces.
/// Source: HTML Living Standard, section 13.1.2 (attributes) and 13.3 (escaping a string); XML 1.0, section 2.2 (Char).
inline std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 8);
  for (const char c : base::repair_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += byte < 0x20 && c != '\t' && c != '\n' && c != '\r' ? ' ' : c;
    }
  }
  return escaped;
}

/// Returns `json` in a form that is safe as the content of a script element. The characters < > & and the line
/// separators U+2028 and U+2029 become \u escapes, which JSON parsers convert back. So the text cannot close the
/// element or open a comment. Requires: `json` is JSON text, in which these characters occur only inside strings.
/// Source: HTML Living Standard, section 4.12.1.3 (restrictions for contents of script elements).
inline std::string escape_json_for_script(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view three = json.substr(i, 3);
    if (three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9") {
      escaped += three.back() == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (json[i] == '<') {
      escaped += "\\u003c";
    } else if (json[i] == '>') {
      escaped += "\\u003e";
    } else if (json[i] == '&') {
      escaped += "\\u0026";
    } else {
      escaped += json[i];
    }
  }
  return escaped;
}

}  // namespace dragoman::report
