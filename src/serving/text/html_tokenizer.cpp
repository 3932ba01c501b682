#include "serving/text/html_tokenizer.h"

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "serving/text/character_references.h"
#include "serving/text/html_doctype.h"
#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

using LexemeKind = Lexeme::Kind;

constexpr std::string_view kCommentBegin = "<!--";
constexpr std::string_view kDoctypeBegin = "<!doctype";
constexpr std::string_view kCdataBegin = "<![CDATA[";
constexpr std::string_view kCdataEnd = "]]>";
constexpr std::string_view kEndOfName = " \t\n\r\f/>";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

size_t skip_blanks(std::string_view html, size_t at) {
  return std::min(html.find_first_not_of(kHtmlBlanks, at), html.size());
}

std::string name_of(std::string_view bytes) {
  return base::ascii_lower_case(without_nul(bytes));
}

// What a comment holds when the text ends inside it: not the dashes that may begin its end.
std::string_view without_begun_end(std::string_view data) {
  for (const std::string_view begun : {"--!", "--", "-"}) {
    if (data.ends_with(begun)) {
      return data.substr(0, data.size() - begun.size());
    }
  }
  return data;
}

// Returns whether a name that ends like a tag name begins at `at`, and moves `at` behind it and the next character.
bool is_script_name(std::string_view html, size_t& at) {
  const size_t begin = at;
  while (at < html.size() && is_letter(html[at])) {
    ++at;
  }
  const bool is_ended = at < html.size() && kEndOfName.find(html[at]) != std::string_view::npos;
  const bool is_script = is_ended && base::equal_ignoring_ascii_case(html.substr(begin, at - begin), "script");
  at += is_ended ? 1 : 0;
  return is_script;
}

}  // namespace

void HtmlTokenizer::set_content(HtmlContent content, std::string_view name) {
  content_ = content;
  end_tag_ = name;
}

std::optional<Lexeme> HtmlTokenizer::next() {
  if (at_ == html_.size()) {
    return std::nullopt;
  }
  if (content_ == HtmlContent::kCdata) {
    content_ = HtmlContent::kData;
    return take_cdata(at_);
  }
  if (const size_t end = text_end(); end > at_) {
    return taken(LexemeKind::kText, end);
  }
  content_ = HtmlContent::kData;
  return take_markup();
}

Lexeme HtmlTokenizer::taken(LexemeKind kind, size_t end) {
  Lexeme lexeme{.kind = kind, .bytes = html_.substr(at_, end - at_)};
  at_ = end;
  return lexeme;
}

size_t HtmlTokenizer::text_end() const {
  if (content_ == HtmlContent::kPlaintext) {
    return html_.size();
  }
  if (content_ == HtmlContent::kScript) {
    return script_end();
  }
  for (size_t at = html_.find('<', at_); at != std::string_view::npos; at = html_.find('<', at + 1)) {
    if (content_ == HtmlContent::kData ? is_markup(at) : is_own_end_tag(at)) {
      return at;
    }
  }
  return html_.size();
}

// Whether a "<" begins markup. Otherwise it is text.
bool HtmlTokenizer::is_markup(size_t at) const {
  if (at + 1 == html_.size()) {
    return false;
  }
  const char next = html_[at + 1];
  return is_letter(next) || next == '!' || next == '?' || (next == '/' && at + 2 < html_.size());
}

bool HtmlTokenizer::is_own_end_tag(size_t at) const {
  const std::string_view rest = html_.substr(at);
  const size_t end = 2 + end_tag_.size();
  return !end_tag_.empty() && rest.starts_with("</") && rest.size() > end &&
         base::equal_ignoring_ascii_case(rest.substr(2, end_tag_.size()), end_tag_) &&
         kEndOfName.find(rest[end]) != std::string_view::npos;
}

// The states of script data: a script that is begun inside "<!--" hides its own end tag.
size_t HtmlTokenizer::script_end() const {
  enum class State { kPlain, kEscaped, kTwiceEscaped } state = State::kPlain;
  size_t dashes = 0;  // just before `at`
  for (size_t at = at_; at < html_.size();) {
    const char c = html_[at];
    if (c != '<') {
      state = c == '>' && dashes >= 2 ? State::kPlain : state;
      dashes = c == '-' && state != State::kPlain ? dashes + 1 : 0;
      ++at;
      continue;
    }
    dashes = 0;
    if (state != State::kTwiceEscaped && is_own_end_tag(at)) {
      return at;
    }
    const std::string_view rest = html_.substr(at);
    ++at;
    if (state == State::kPlain) {
      if (rest.starts_with(kCommentBegin)) {
        state = State::kEscaped;
        at += kCommentBegin.size() - 1;
        dashes = 2;
      }
    } else if (state == State::kEscaped) {
      state = is_script_name(html_, at) ? State::kTwiceEscaped : State::kEscaped;
    } else if (rest.starts_with("</")) {
      ++at;
      state = is_script_name(html_, at) ? State::kEscaped : State::kTwiceEscaped;
    }
  }
  return html_.size();
}

Lexeme HtmlTokenizer::take_markup() {
  const char next = html_[at_ + 1];
  if (next == '!') {
    return take_declaration();
  }
  if (next == '?') {
    return take_bogus_comment(at_ + 1);
  }
  if (next != '/') {
    return take_tag();
  }
  const char first = html_[at_ + 2];
  return first == '>'       ? taken(LexemeKind::kDropped, at_ + 3)
         : is_letter(first) ? take_tag()
                            : take_bogus_comment(at_ + 2);
}

Lexeme HtmlTokenizer::take_tag() {
  const bool is_end = html_[at_ + 1] == '/';
  const size_t name = at_ + (is_end ? 2 : 1);
  size_t at = std::min(html_.find_first_of(kEndOfName, name), html_.size());
  Lexeme tag{.kind = is_end ? LexemeKind::kEndTag : LexemeKind::kStartTag, .bytes = {}};
  tag.name = name_of(html_.substr(name, at - name));
  if (!read_attributes(at, tag)) {
    Lexeme dropped = taken(LexemeKind::kDropped, html_.size());
    dropped.is_closed = false;
    return dropped;
  }
  tag.bytes = taken(tag.kind, at).bytes;
  return tag;
}

// Reads from behind the name of a tag to behind its ">". Returns false if there is none.
bool HtmlTokenizer::read_attributes(size_t& at, Lexeme& tag) const {
  std::set<std::string> names;  // of two attributes with one name, the first one counts
  while (true) {
    at = skip_blanks(html_, at);
    if (at == html_.size()) {
      return false;
    }
    if (html_[at] == '>') {
      ++at;
      return true;
    }
    if (html_[at] == '/') {
      ++at;
      tag.is_self_closing = at < html_.size() && html_[at] == '>';
      continue;
    }
    const size_t begin = at;
    at = std::min(html_.find_first_of(" \t\n\r\f/>=", begin + 1), html_.size());  // a name may begin with "="
    Lexeme::Attribute attribute{name_of(html_.substr(begin, at - begin)), {}};
    at = skip_blanks(html_, at);
    if (at < html_.size() && html_[at] == '=') {
      ++at;
      attribute.value = read_value(at);
    }
    if (names.insert(attribute.name).second && tag.kind == LexemeKind::kStartTag) {
      tag.attributes.push_back(std::move(attribute));
    }
  }
}

// Reads the value behind "=". A missing quote or ">" moves `at` to the end.
std::string HtmlTokenizer::read_value(size_t& at) const {
  at = skip_blanks(html_, at);
  const char quote = at < html_.size() ? html_[at] : '\0';
  const bool is_quoted = quote == '"' || quote == '\'';
  const size_t begin = at + (is_quoted ? 1 : 0);
  const size_t end =
      std::min(is_quoted ? html_.find(quote, begin) : html_.find_first_of(" \t\n\r\f>", begin), html_.size());
  at = std::min(end + (is_quoted ? 1 : 0), html_.size());
  return with_references_decoded(without_nul(html_.substr(begin, end - begin)), ReferencePlace::kHtmlAttribute);
}

Lexeme HtmlTokenizer::take_declaration() {
  const std::string_view rest = html_.substr(at_);
  if (rest.starts_with(kCommentBegin)) {
    return take_comment();
  }
  if (base::equal_ignoring_ascii_case(rest.substr(0, kDoctypeBegin.size()), kDoctypeBegin)) {
    return take_doctype();
  }
  return has_cdata_ && rest.starts_with(kCdataBegin) ? take_cdata(at_ + kCdataBegin.size())
                                                     : take_bogus_comment(at_ + 2);
}

Lexeme HtmlTokenizer::take_comment() {
  const std::string_view rest = html_.substr(at_ + kCommentBegin.size());
  for (const std::string_view empty : {">", "->"}) {
    if (rest.starts_with(empty)) {
      return taken(LexemeKind::kComment, at_ + kCommentBegin.size() + empty.size());
    }
  }
  const size_t plain = rest.find("-->");
  const size_t odd = rest.find("--!>");
  const size_t end = std::min(plain, odd);
  const size_t mark = end == std::string_view::npos ? 0 : end == plain ? 3 : 4;
  const size_t size = mark == 0 ? rest.size() : end + mark;
  Lexeme comment = taken(LexemeKind::kComment, at_ + kCommentBegin.size() + size);
  comment.is_closed = mark != 0;
  comment.data = without_nul(mark != 0 ? rest.substr(0, end) : without_begun_end(rest));
  return comment;
}

Lexeme HtmlTokenizer::take_bogus_comment(size_t data_begin) {
  const size_t end = std::min(html_.find('>', data_begin), html_.size());
  const std::string data = without_nul(html_.substr(data_begin, end - data_begin));
  const bool is_closed = end < html_.size();
  Lexeme comment = taken(LexemeKind::kBogusComment, end + (is_closed ? 1 : 0));
  comment.is_closed = is_closed;
  comment.data = data;
  return comment;
}

Lexeme HtmlTokenizer::take_doctype() {
  const size_t begin = at_ + kDoctypeBegin.size();
  const size_t end = std::min(html_.find('>', begin), html_.size());
  const bool is_closed = end < html_.size();
  Lexeme doctype = taken(LexemeKind::kDoctype, end + (is_closed ? 1 : 0));
  doctype.is_closed = is_closed;
  doctype.doctype = read_doctype(html_.substr(begin, end - begin), is_closed);
  return doctype;
}

Lexeme HtmlTokenizer::take_cdata(size_t data_begin) {
  const size_t end = std::min(html_.find(kCdataEnd, data_begin), html_.size());
  const std::string data(html_.substr(data_begin, end - data_begin));
  const bool is_closed = end < html_.size();
  Lexeme section = taken(LexemeKind::kCdata, is_closed ? end + kCdataEnd.size() : end);
  section.is_closed = is_closed;
  section.data = data;
  return section;
}

}  // namespace dragoman::serving
