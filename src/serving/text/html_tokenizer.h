#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "serving/text/lexeme.h"

namespace dragoman::serving {

/// How HTML reads the text behind a start tag.
enum class HtmlContent {
  kData,       ///< tags, comments and references
  kRcdata,     ///< references, to the end tag: title, textarea
  kRawtext,    ///< text, to the end tag: style, xmp, iframe, noembed, noframes
  kScript,     ///< text, to the end tag; a script inside "<!--" may hold end tags of its own
  kPlaintext,  ///< text, to the end
  kCdata,      ///< text, to "]]>"
};

/// Cuts HTML into lexemes, as browsers do, with the bytes of each. The reader of the lexemes sets the content behind a
/// start tag. Each lexeme is a view of the HTML, which must live as long.
/// Source: WHATWG HTML Living Standard, section 13.2.5.
class HtmlTokenizer {
 public:
  explicit HtmlTokenizer(std::string_view html) : html_(html) {}

  /// Sets how the text behind the last lexeme is read. The content ends at the end tag `name`; then kData follows.
  void set_content(HtmlContent content, std::string_view name);

  /// Sets whether "<![CDATA[" begins a section: only inside svg and math. Otherwise it begins a comment.
  void set_has_cdata(bool has_cdata) { has_cdata_ = has_cdata; }

  /// Returns the next lexeme, or nothing at the end.
  [[nodiscard]] std::optional<Lexeme> next();

 private:
  [[nodiscard]] size_t text_end() const;
  [[nodiscard]] bool is_markup(size_t at) const;
  [[nodiscard]] bool is_own_end_tag(size_t at) const;
  [[nodiscard]] size_t script_end() const;
  Lexeme taken(Lexeme::Kind kind, size_t end);
  Lexeme take_markup();
  Lexeme take_tag();
  bool read_attributes(size_t& at, Lexeme& tag) const;
  [[nodiscard]] std::string read_value(size_t& at) const;
  Lexeme take_declaration();
  Lexeme take_comment();
  Lexeme take_bogus_comment(size_t data_begin);
  Lexeme take_doctype();
  Lexeme take_cdata(size_t data_begin);

  std::string_view html_;
  size_t at_ = 0;
  HtmlContent content_ = HtmlContent::kData;
  std::string end_tag_;
  bool has_cdata_ = false;
};

}  // namespace dragoman::serving
