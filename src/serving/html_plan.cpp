#include <algorithm>
#include <charconv>
#include <optional>

#include "base/utf8.h"
#include "serving/http_message.h"
#include "serving/text_plan.h"

namespace dragoman::serving {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\f";

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The character that a reference such as "&amp;" or "&#x27;" stands for, and the length of the reference.
std::optional<std::pair<std::string, size_t>> reference_at(std::string_view text) {
  constexpr size_t kLongest = 12;
  const size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view name = text.substr(1, end - 1);
  if (name.starts_with('#')) {
    const bool is_hexadecimal = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
    const std::string_view digits = name.substr(is_hexadecimal ? 2 : 1);
    uint32_t code = 0;
    constexpr int kTen = 10;
    constexpr int kSixteen = 16;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hexadecimal ? kSixteen : kTen);
    constexpr uint32_t kLastCharacter = 0x10FFFF;
    const bool is_character = error == std::errc() && stop == digits.data() + digits.size() && !digits.empty() &&
                              code != 0 && code <= kLastCharacter;
    return is_character ? std::optional(std::pair(base::encode_utf8(std::u32string(1, code)), end + 1)) : std::nullopt;
  }
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"amp", "&"},    {"lt", "<"},     {"gt", ">"},     {"quot", "\""},  {"apos", "'"},   {"nbsp", "\u00A0"},
      {"auml", "ä"},   {"ouml", "ö"},   {"uuml", "ü"},   {"Auml", "Ä"},   {"Ouml", "Ö"},   {"Uuml", "Ü"},
      {"szlig", "ß"},  {"eacute", "é"}, {"egrave", "è"}, {"agrave", "à"}, {"ccedil", "ç"}, {"ecirc", "ê"},
      {"hellip", "…"}, {"ndash", "–"},  {"mdash", "—"},  {"lsquo", "‘"},  {"rsquo", "’"},  {"ldquo", "“"},
      {"rdquo", "”"},  {"bdquo", "„"},  {"laquo", "«"},  {"raquo", "»"},  {"euro", "€"},   {"copy", "©"}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) {
      return std::pair(std::string(character), end + 1);
    }
  }
  return std::nullopt;
}

// References read, runs of blanks made one space.
std::string plain_words(std::string_view text) {
  std::string words;
  for (size_t i = 0; i < text.size();) {
    if (kBlanks.find(text[i]) != std::string_view::npos) {
      words += words.ends_with(' ') ? "" : " ";
      ++i;
    } else if (const auto reference = text[i] == '&' ? reference_at(text.substr(i)) : std::nullopt) {
      words += reference->first;
      i += reference->second;
    } else {
      words += text[i++];
    }
  }
  return words;
}

// Where the tag ends that begins at `at`, behind its ">"; quotes hide a ">". The end of the text if it never ends.
size_t tag_end(std::string_view html, size_t at) {
  char quote = 0;
  for (; at < html.size(); ++at) {
    const char c = html[at];
    if (quote != 0) {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return html.size();
}

size_t end_behind(std::string_view html, std::string_view mark, size_t at) {
  const size_t found = html.find(mark, at);
  return found == std::string_view::npos ? html.size() : found + mark.size();
}

std::string tag_name(std::string_view tag) {
  const size_t end = tag.find_first_of(" \t\n\r\f/>", 1);
  return lower_case(tag.substr(1, std::min(end, tag.size()) - 1));
}

bool is_void(const std::string& name) {
  constexpr std::string_view kVoid[] = {
      "area",  "base", "br",   "col",    "embed", "hr", "img",
      "input", "link", "meta", "source", "track", "wbr"};  // HTML, section 13.1.2: they have no end tag
  return std::ranges::find(kVoid, name) != std::end(kVoid);
}

bool is_left_alone(std::string_view tag, const std::vector<std::string>& more) {
  constexpr std::string_view kElements[] = {"script", "style", "code", "pre", "textarea"};
  const std::string text = lower_case(tag);
  const std::string name = tag_name(tag);
  return std::ranges::find(kElements, name) != std::end(kElements) || std::ranges::find(more, name) != more.end() ||
         text.find("translate=\"no\"") != std::string::npos || text.find("translate='no'") != std::string::npos ||
         text.find("translate=no") != std::string::npos;
}

// Behind the end tag that belongs to the start tag of `name` before `at`; the same element may stand inside itself.
size_t element_end(std::string_view html, const std::string& name, size_t at) {
  int depth = 1;
  while (depth > 0 && at < html.size()) {
    at = html.find('<', at);
    if (at == std::string_view::npos) {
      return html.size();
    }
    const std::string_view rest = html.substr(at);
    const bool is_end = rest.starts_with("</");
    const bool is_it = tag_name(rest.substr(is_end ? 1 : 0)) == name;
    depth += !is_it ? 0 : is_end ? -1 : 1;
    at = is_it ? tag_end(html, at) : at + 1;
  }
  return at;
}

// Where what begins with "<" at `at` ends; `at` itself if it is text.
size_t markup_end(std::string_view html, size_t at, const std::vector<std::string>& left_alone) {
  const std::string_view rest = html.substr(at);
  if (rest.starts_with("<!--")) {
    return end_behind(html, "-->", at + 4);
  }
  if (rest.size() < 2 || !(is_name_start(rest[1]) || rest[1] == '/' || rest[1] == '!' || rest[1] == '?')) {
    return at;
  }
  const size_t end = tag_end(html, at);
  const std::string_view tag = html.substr(at, end - at);
  if (is_name_start(rest[1]) && is_left_alone(tag, left_alone) && !tag.ends_with("/>") && !is_void(tag_name(tag))) {
    return element_end(html, tag_name(tag), end);
  }
  return end;
}

void add_text(TextPlan& plan, std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const size_t end = begin == text.size() ? begin : text.find_last_not_of(kBlanks) + 1;
  const TextPlan inside = plan_text(plain_words(text.substr(begin, end - begin)));
  if (inside.lines() != 1) {  // nothing to translate: as it was, references too
    plan.pieces.push_back({false, std::string(text)});
    return;
  }
  plan.pieces.push_back({false, std::string(text.substr(0, begin))});
  plan.pieces.push_back({true, inside.pieces.front().text});
  plan.pieces.push_back({false, std::string(text.substr(end))});
}

}  // namespace

TextPlan plan_html(std::string_view html, const std::vector<std::string>& left_alone) {
  TextPlan plan{.pieces = {}, .is_html = true};
  size_t text_begin = 0;
  for (size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at)) {
    const size_t end = markup_end(html, at, left_alone);
    if (end == at) {
      ++at;
      continue;
    }
    add_text(plan, html.substr(text_begin, at - text_begin));
    plan.pieces.push_back({false, std::string(html.substr(at, end - at))});
    text_begin = at = end;
  }
  add_text(plan, html.substr(text_begin));
  return plan;
}

}  // namespace dragoman::serving
