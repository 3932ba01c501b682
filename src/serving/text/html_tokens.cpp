#include "serving/text/html_tokens.h"

#include <algorithm>
#include <span>

#include "base/ascii.h"
#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

using Kind = HtmlToken::Kind;

// Elements inside a sentence: the phrasing content of HTML and older elements, without embedded pictures, controls and
// programs.
constexpr std::string_view kInline[] = {"a",    "abbr", "acronym", "b",    "bdi",   "bdo",  "big",    "cite",   "data",
                                        "del",  "dfn",  "em",      "font", "i",     "img",  "ins",    "kbd",    "label",
                                        "mark", "q",    "s",       "samp", "small", "span", "strike", "strong", "sub",
                                        "sup",  "time", "tt",      "u",    "var",   "wbr"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns the offset behind the ">" of the tag at `at`, or the end of the text. A ">" in quotes does not count.
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
  return base::ascii_lower_case(tag.substr(1, std::min(end, tag.size()) - 1));
}

bool is_void(const std::string& name) {
  constexpr std::string_view kVoid[] = {
      "area",  "base", "br",   "col",    "embed", "hr", "img",
      "input", "link", "meta", "source", "track", "wbr"};  // elements without an end tag: HTML, section 13.1.2
  return std::ranges::find(kVoid, name) != std::end(kVoid);
}

bool is_left_alone(std::string_view tag, const std::vector<std::string>& more) {
  constexpr std::string_view kElements[] = {"script", "style", "code", "pre", "textarea"};
  const std::string text = base::ascii_lower_case(tag);
  const std::string name = tag_name(tag);
  return std::ranges::find(kElements, name) != std::end(kElements) || std::ranges::find(more, name) != more.end() ||
         text.find("translate=\"no\"") != std::string::npos || text.find("translate='no'") != std::string::npos ||
         text.find("translate=no") != std::string::npos;
}

// Returns the offset behind the end tag of the element `name` that began before `at`. Elements may be nested.
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

// Returns the markup at the front of `rest`, which begins with "<". If it is none, returns kText without bytes.
HtmlToken markup_at(std::string_view rest, const MarkupOptions& options) {
  if (rest.starts_with("<!--")) {
    const std::string_view comment = rest.substr(0, end_behind(rest, "-->", 4));
    return {comment.ends_with("-->") ? Kind::kPoint : Kind::kBreak, comment};
  }
  if (rest.size() < 2 || !(is_name_start(rest[1]) || rest[1] == '/' || rest[1] == '!' || rest[1] == '?')) {
    return {Kind::kText, {}};
  }
  const size_t end = tag_end(rest, 0);
  const std::string_view tag = rest.substr(0, end);
  const bool is_end = rest[1] == '/';
  HtmlToken token{Kind::kBreak, tag, is_end ? tag_name(tag.substr(1)) : tag_name(tag)};
  if (!tag.ends_with('>') || rest[1] == '!' || rest[1] == '?' || token.name.empty()) {
    return token;
  }
  const bool is_point = !is_end && (tag.ends_with("/>") || (!options.is_xml && is_void(token.name)));
  if (!is_end && is_left_alone(tag, options.left_alone)) {
    token.bytes = is_point ? tag : rest.substr(0, element_end(rest, token.name, end));
    return token;
  }
  const bool is_inline = options.is_xml || contains(kInline, token.name);
  if (contains(options.non_splitting, token.name) || (is_inline && !contains(options.splitting, token.name))) {
    token.kind = is_end ? Kind::kEnd : is_point ? Kind::kPoint : Kind::kStart;
  }
  return token;
}

// In XML, elements without words beside them are blocks: their tags end sentences.
void break_at_blocks(std::vector<HtmlToken>& tokens, const std::vector<std::string>& non_splitting) {
  struct Element {
    bool has_words = false;
    std::vector<size_t> tags = {};  // of the elements in it
  };
  std::vector<Element> open(1);
  const auto close = [&] {
    for (const size_t tag : open.back().tags) {
      const bool stays = open.back().has_words || contains(non_splitting, tokens[tag].name);
      tokens[tag].kind = stays ? tokens[tag].kind : Kind::kBreak;
    }
    open.pop_back();
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Kind kind = tokens[i].kind;
    if (kind == Kind::kText) {
      open.back().has_words = open.back().has_words || !is_blank(tokens[i].bytes);
    } else if (kind == Kind::kStart) {
      open.back().tags.push_back(i);
      open.emplace_back();
    } else if (kind == Kind::kEnd) {
      if (open.size() > 1) {
        close();
      }
      open.back().tags.push_back(i);
    }
  }
  while (!open.empty()) {
    close();
  }
}

}  // namespace

std::vector<HtmlToken> html_tokens(std::string_view html, const MarkupOptions& options) {
  std::vector<HtmlToken> tokens;
  size_t text_begin = 0;
  const auto add_text = [&](size_t end) {
    if (end > text_begin) {
      tokens.push_back({Kind::kText, html.substr(text_begin, end - text_begin)});
    }
  };
  for (size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at)) {
    HtmlToken token = markup_at(html.substr(at), options);
    if (token.bytes.empty()) {
      ++at;
      continue;
    }
    add_text(at);
    text_begin = at += token.bytes.size();
    tokens.push_back(std::move(token));
  }
  add_text(html.size());
  if (options.is_xml) {
    break_at_blocks(tokens, options.non_splitting);
  }
  return tokens;
}

}  // namespace dragoman::serving
