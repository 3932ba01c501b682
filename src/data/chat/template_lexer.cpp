#include "data/chat/template_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/utf8.h"
#include "data/chat/template_text.h"

namespace dragoman::data {
namespace {

using TokenKind = TemplateToken::Kind;

constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                           "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

// Every line end becomes LF, and the last one is left out.
std::string with_plain_lines(std::string_view source) {
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      text += '\n';
    }
  }
  if (text.ends_with('\n')) {
    text.pop_back();
  }
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& name) : source_(with_plain_lines(source)), name_(name) {}

  std::vector<TemplateToken> run() {
    while (at_ < source_.size()) {
      read_data();
    }
    add(TokenKind::kEnd);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { fail_at(name_, line_, message); }
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  bool next_is(std::string_view text) const { return rest().starts_with(text); }

  void skip(size_t bytes) {
    line_ += static_cast<int>(std::ranges::count(rest().substr(0, bytes), '\n'));
    at_ += bytes;
  }
  void skip_space() {
    const std::string_view text = stripped(rest(), TextEnds::kLeft);
    skip(rest().size() - text.size());
  }
  void add(TokenKind kind, std::string text = {}) {
    tokens_.push_back({.kind = kind, .text = std::move(text), .line = line_});
  }

  // The text up to the next tag, and the tag.
  void read_data() {
    const size_t tag = next_tag();
    std::string_view data = rest().substr(0, tag == std::string::npos ? std::string::npos : tag - at_);
    const size_t length = data.size();
    if (tag != std::string::npos) {
      data = data_before(data, source_[tag + 1], tag + 2 < source_.size() ? source_[tag + 2] : ' ');
    }
    if (!data.empty()) {
      add(TokenKind::kData, std::string(data));
    }
    skip(length);
    if (tag != std::string::npos) {
      read_tag();
    }
  }

  size_t next_tag() const {
    for (size_t tag = source_.find('{', at_); tag != std::string::npos; tag = source_.find('{', tag + 1)) {
      if (tag + 1 < source_.size() && std::string_view("{%#").find(source_[tag + 1]) != std::string_view::npos) {
        return tag;
      }
    }
    return std::string::npos;
  }

  // Leaves out the white space before a tag.
  std::string_view data_before(std::string_view data, char tag, char sign) const {
    if (sign == '-') {
      return stripped(data, TextEnds::kRight);
    }
    if (sign == '+' || tag == '{') {
      return data;
    }
    const size_t line_begin = data.rfind('\n') + 1;  // 0 if there is none
    const bool begins_line = line_begin > 0 || at_ == 0 || source_[at_ - 1] == '\n';
    return begins_line && stripped(data.substr(line_begin), TextEnds::kLeft).empty() ? data.substr(0, line_begin)
                                                                                     : data;
  }

  void read_tag() {
    const char tag = source_[at_ + 1];
    const size_t sign = at_ + 2 < source_.size() && (source_[at_ + 2] == '-' || source_[at_ + 2] == '+') ? 1 : 0;
    if (tag == '#') {
      return read_comment(sign);
    }
    const bool is_block = tag == '%';
    add(is_block ? TokenKind::kBlockBegin : TokenKind::kOutputBegin);
    skip(2 + sign);
    const std::string_view end = is_block ? "%}" : "}}";
    while (!read_end(end, is_block)) {
      if (at_ >= source_.size()) {
        fail(fmt::format("a tag is not closed by {}", end));
      }
      read_token();
    }
    open_.clear();
  }

  void read_comment(size_t first_sign) {
    const size_t begin = at_ + 2 + first_sign;
    const size_t end = source_.find("#}", begin);
    if (end == std::string::npos) {
      fail("a comment is not closed by #}");
    }
    const char sign = end > begin ? source_[end - 1] : ' ';
    skip(end - at_);
    skip_end(sign, true);
  }

  // Skips the two bytes of the end of a tag, and white space as the sign before it says.
  void skip_end(char sign, bool is_block) {
    skip(2);
    if (sign == '-') {
      skip_space();
    } else if (is_block && sign != '+' && next_is("\n")) {
      skip(1);
    }
  }

  bool read_end(std::string_view end, bool is_block) {
    skip_space();
    const bool has_sign =
        rest().size() > 2 && (rest()[0] == '-' || (rest()[0] == '+' && is_block)) && rest().substr(1).starts_with(end);
    if (!open_.empty() || !(has_sign || next_is(end))) {
      return false;
    }
    add(is_block ? TokenKind::kBlockEnd : TokenKind::kOutputEnd);
    const char sign = has_sign ? rest()[0] : ' ';
    skip(has_sign ? 1 : 0);
    skip_end(sign, is_block);
    return true;
  }

  void read_token() {
    const char c = source_[at_];
    if (is_digit(c)) {
      return read_number();
    }
    if (is_name_character(c)) {
      const auto end = std::ranges::find_if_not(rest(), is_name_character);
      const auto length = static_cast<size_t>(end - rest().begin());
      add(TokenKind::kName, std::string(rest().substr(0, length)));
      return skip(length);
    }
    if (c == '"' || c == '\'') {
      return read_text(c);
    }
    read_operator();
  }

  void read_operator() {
    const auto* const found = std::ranges::find_if(kOperators, [&](std::string_view one) { return next_is(one); });
    if (found == std::end(kOperators)) {
      fail(fmt::format("unexpected character {}", rest().substr(0, base::code_point_at(rest(), 0).bytes)));
    }
    const char c = found->front();
    if (c == '(' || c == '[' || c == '{') {
      open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty() || open_.back() != c) {
        fail(fmt::format("unexpected {}", c));
      }
      open_.pop_back();
    }
    add(TokenKind::kOperator, std::string(*found));
    skip(found->size());
  }

  void read_number() {
    const bool is_place = !tokens_.empty() && tokens_.back().text == "." && source_[at_ - 1] == '.';  // x.0
    size_t length = digits_at(0);
    bool is_whole = true;
    if (!is_place && rest().size() > length + 1 && rest()[length] == '.' && is_digit(rest()[length + 1])) {
      length += 1 + digits_at(length + 1);
      is_whole = false;
    }
    if (!is_place && rest().size() > length && (rest()[length] == 'e' || rest()[length] == 'E')) {
      const size_t sign =
          rest().size() > length + 1 && (rest()[length + 1] == '+' || rest()[length + 1] == '-') ? 1 : 0;
      if (const size_t digits = digits_at(length + 1 + sign); digits > 0) {
        length += 1 + sign + digits;
        is_whole = false;
      }
    }
    const std::string text(rest().substr(0, length));
    const bool goes_on = rest().size() > length && is_name_character(rest()[length]);
    TemplateToken token{.kind = is_whole ? TokenKind::kInteger : TokenKind::kNumber, .text = text, .line = line_};
    const char* const end = text.data() + text.size();
    const auto read =
        is_whole ? std::from_chars(text.data(), end, token.integer) : std::from_chars(text.data(), end, token.number);
    if (goes_on || read.ec != std::errc() || read.ptr != end || (is_whole && text.size() > 1 && text[0] == '0')) {
      fail(fmt::format("{} is no number that is supported", rest().substr(0, length + (goes_on ? 1 : 0))));
    }
    tokens_.push_back(token);
    skip(length);
  }

  size_t digits_at(size_t place) const {
    size_t end = place;
    while (end < rest().size() && is_digit(rest()[end])) {
      ++end;
    }
    return end - std::min(place, end);
  }

  void read_text(char quote) {
    const int line = line_;
    std::string text;
    size_t end = 1;
    for (; end < rest().size() && rest()[end] != quote; ++end) {
      if (rest()[end] != '\\') {
        text += rest()[end];
      } else {
        end += read_escape(rest().substr(end + 1), text);
      }
    }
    if (end >= rest().size()) {
      fail("a text is not closed by its quote");
    }
    skip(end + 1);
    tokens_.push_back({.kind = TokenKind::kText, .text = std::move(text), .line = line});
  }

  // Adds what an escape stands for. Returns its bytes behind the backslash.
  size_t read_escape(std::string_view escape, std::string& text) const {
    constexpr std::string_view kLetters = "ntrabfv\\'\"";
    constexpr std::string_view kMeanings = "\n\t\r\a\b\f\v\\'\"";
    const char letter = escape.empty() ? ' ' : escape.front();
    if (const size_t known = kLetters.find(letter); known != std::string_view::npos) {
      text += kMeanings[known];
      return 1;
    }
    if (letter == '\n') {  // the text goes on in the next line
      return 1;
    }
    const bool is_plain = letter > ' ' && letter < 0x7F && !is_digit(letter) &&
                          std::string_view("xuUN").find(letter) == std::string_view::npos;
    if (is_plain) {  // no escape, so both characters stay
      text += {'\\', letter};
      return 1;
    }
    const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    uint32_t value = 0;
    const std::string_view hexadecimal = escape.substr(std::min<size_t>(1, escape.size()), digits);
    const auto read = std::from_chars(hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), value, 16);
    const bool is_whole =
        digits > 0 && hexadecimal.size() == digits && read.ec == std::errc() && read.ptr == hexadecimal.data() + digits;
    if (!is_whole || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      fail(
          fmt::format("\\{} is no escape that is supported", letter > ' ' && letter < 0x7F ? std::string{letter} : ""));
    }
    const auto character = static_cast<char32_t>(value);
    text += base::encode_utf8({&character, 1});
    return 1 + digits;
  }

  std::string source_;
  const std::string& name_;
  size_t at_ = 0;
  int line_ = 1;
  std::string open_;  // brackets that are still to be closed
  std::vector<TemplateToken> tokens_;
};

}  // namespace

void fail_at(const std::string& name, int line, const std::string& message) {
  base::fail(base::ErrorKind::kBadData, "{}: line {}: {}", name, line, message);
}

std::vector<TemplateToken> template_tokens(std::string_view source, const std::string& name) {
  return Lexer(source, name).run();
}

}  // namespace dragoman::data
