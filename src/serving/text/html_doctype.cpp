#include "serving/text/html_doctype.h"

#include <algorithm>

#include "base/ascii.h"
#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

class DoctypeReader {
 public:
  DoctypeReader(std::string_view content, bool is_closed) : rest_(content), is_closed_(is_closed) {}

  Lexeme::Doctype read() {
    skip_blanks();
    if (rest_.empty()) {
      return incorrect();
    }
    const size_t end = std::min(rest_.find_first_of(kHtmlBlanks), rest_.size());
    doctype_.name = base::ascii_lower_case(without_nul(rest_.substr(0, end)));
    rest_.remove_prefix(end);
    skip_blanks();
    if (rest_.empty()) {
      return finished();
    }
    const std::string keyword = base::ascii_lower_case(rest_.substr(0, kPublic.size()));
    if (keyword != kPublic && keyword != kSystem) {
      return incorrect();
    }
    rest_.remove_prefix(kPublic.size());
    skip_blanks();
    if (keyword == kPublic) {
      if (!read_id(doctype_.public_id)) {
        return incorrect();
      }
      skip_blanks();
      if (rest_.empty()) {
        return finished();
      }
    }
    if (!read_id(doctype_.system_id)) {
      return incorrect();
    }
    skip_blanks();
    return rest_.empty() ? finished() : doctype_;
  }

 private:
  static constexpr std::string_view kPublic = "public";
  static constexpr std::string_view kSystem = "system";

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kHtmlBlanks), rest_.size())); }

  // Reads an identifier in quotes. Returns false if there is none, or no second quote.
  bool read_id(std::optional<std::string>& id) {
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) {
      return false;
    }
    const size_t end = rest_.find(rest_.front(), 1);
    id = without_nul(rest_.substr(1, std::min(end, rest_.size()) - 1));
    rest_.remove_prefix(std::min(end, rest_.size() - 1) + 1);
    return end != std::string_view::npos;
  }

  Lexeme::Doctype incorrect() {
    doctype_.is_correct = false;
    return doctype_;
  }

  Lexeme::Doctype finished() { return is_closed_ ? doctype_ : incorrect(); }

  std::string_view rest_;
  bool is_closed_;
  Lexeme::Doctype doctype_;
};

}  // namespace

Lexeme::Doctype read_doctype(std::string_view content, bool is_closed) {
  return DoctypeReader(content, is_closed).read();
}

}  // namespace dragoman::serving
