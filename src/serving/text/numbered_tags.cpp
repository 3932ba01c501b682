#include "serving/text/numbered_tags.h"

#include <algorithm>
#include <map>
#include <string>

namespace dragoman::serving {
namespace {

constexpr std::string_view kDigits = "0123456789";

// Returns the size of the tag at the front of `rest`, which begins with `begin`, digits and `end`. 0 = there is none.
size_t numbered_size(std::string_view rest, std::string_view begin, std::string_view end) {
  if (!rest.starts_with(begin)) {
    return 0;
  }
  const size_t stop = std::min(rest.find_first_not_of(kDigits, begin.size()), rest.size());
  return stop > begin.size() && rest.substr(stop).starts_with(end) ? stop + end.size() : 0;
}

// Cuts the text before `tag`, the tag, and the rest, and returns all three. Empty texts are left out.
void add_cut(std::vector<Lexeme>& lexemes, std::string_view& text, std::string_view tag) {
  const auto before = static_cast<size_t>(tag.data() - text.data());
  if (before > 0) {
    lexemes.push_back({.kind = Lexeme::Kind::kText, .bytes = text.substr(0, before)});
  }
  Lexeme start{.kind = Lexeme::Kind::kStartTag, .bytes = tag};
  start.is_self_closing = tag.ends_with("/>");
  start.name = tag.substr(1, tag.size() - (start.is_self_closing ? 3 : 2));
  lexemes.push_back(std::move(start));
  text.remove_prefix(before + tag.size());
}

// Returns the start tags in the texts, in order, and makes end tags of their ends.
std::vector<std::string_view> numbered_starts(std::vector<Lexeme>& lexemes) {
  std::vector<std::string_view> starts;
  std::map<std::string_view, std::vector<std::string_view>> open;
  for (Lexeme& lexeme : lexemes) {
    if (lexeme.kind == Lexeme::Kind::kBogusComment && numbered_size(lexeme.bytes, "</", ">") == lexeme.bytes.size()) {
      const std::string_view name = lexeme.bytes.substr(2, lexeme.bytes.size() - 3);
      if (std::vector<std::string_view>& same = open[name]; !same.empty()) {
        starts.push_back(same.back());
        same.pop_back();
        lexeme.kind = Lexeme::Kind::kEndTag;
        lexeme.name = name;
      }
    }
    for (size_t at = 0; lexeme.kind == Lexeme::Kind::kText && at < lexeme.bytes.size(); ++at) {
      at = std::min(lexeme.bytes.find('<', at), lexeme.bytes.size());
      const std::string_view rest = lexeme.bytes.substr(at);
      if (const size_t size = numbered_size(rest, "<", ">"); size > 0) {
        open[rest.substr(1, size - 2)].push_back(rest.substr(0, size));
      } else if (const size_t point = numbered_size(rest, "<", "/>"); point > 0) {
        starts.push_back(rest.substr(0, point));
      }
    }
  }
  std::ranges::sort(starts, {}, [](std::string_view tag) { return tag.data(); });
  return starts;
}

}  // namespace

std::vector<Lexeme> with_numbered_tags(std::vector<Lexeme> lexemes) {
  const std::vector<std::string_view> starts = numbered_starts(lexemes);
  if (starts.empty()) {
    return lexemes;
  }
  std::vector<Lexeme> result;
  auto start = starts.begin();
  for (Lexeme& lexeme : lexemes) {
    std::string_view text = lexeme.bytes;
    const char* const end = text.data() + text.size();
    const bool has_tag = lexeme.kind == Lexeme::Kind::kText && start != starts.end() && start->data() < end;
    for (; has_tag && start != starts.end() && start->data() < end; ++start) {
      add_cut(result, text, *start);
    }
    if (!has_tag || !text.empty()) {
      lexeme.bytes = text;
      result.push_back(std::move(lexeme));
    }
  }
  return result;
}

}  // namespace dragoman::serving
