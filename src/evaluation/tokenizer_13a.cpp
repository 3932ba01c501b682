#include "evaluation/text.h"
#include "evaluation/tokenizer.h"

namespace dragoman::evaluation {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_period_or_comma(char c) {
  return c == '.' || c == ',';
}

// ASCII punctuation and space, without ' , - . which depend on their neighbours.
bool always_stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

std::string set_apart(std::string_view line) {
  std::string result;
  result.reserve(line.size() * 2);
  for (const char c : line) {
    if (always_stands_alone(c)) {
      result.append({' ', c, ' '});
    } else {
      result += c;
    }
  }
  return result;
}

// The character of a pair that stands between spaces afterwards.
enum class Apart { kFirst, kSecond };

// Scans as a regular expression of two characters does: a pair that matched is consumed, so pairs never overlap.
// Working on bytes is exact: the rules test ASCII characters, and a space put beside a whole pair of bytes never
// falls inside a longer UTF-8 sequence, because one of the two bytes is ASCII and stands at the sequence's edge.
template <typename Matches>
std::string rewrite_pairs(std::string_view line, Matches matches, Apart apart) {
  std::string result;
  result.reserve(line.size() * 2);
  size_t at = 0;
  while (at < line.size()) {
    if (at + 1 == line.size() || !matches(line[at], line[at + 1])) {
      result += line[at++];
      continue;
    }
    if (apart == Apart::kFirst) {
      result += ' ';
    }
    result.append({line[at], ' ', line[at + 1]});
    if (apart == Apart::kSecond) {
      result += ' ';
    }
    at += 2;
  }
  return result;
}

}  // namespace

std::string separate_western_punctuation(std::string_view line, Possessive possessive) {
  std::string text = set_apart(line);
  if (possessive == Possessive::kApart) {
    text = replace_all(text, "'s ", " 's ");
  }
  text = rewrite_pairs(
      text, [](char a, char b) { return !is_digit(a) && is_period_or_comma(b); }, Apart::kSecond);
  text = rewrite_pairs(
      text, [](char a, char b) { return is_period_or_comma(a) && !is_digit(b); }, Apart::kFirst);
  return rewrite_pairs(
      text, [](char a, char b) { return is_digit(a) && b == '-'; }, Apart::kSecond);
}

std::string replace_entities(std::string_view line) {
  std::string text(line);
  if (text.find('&') != std::string::npos) {
    text = replace_all(text, "&quot;", "\"");
    text = replace_all(text, "&amp;", "&");  // mteval's order
    text = replace_all(text, "&lt;", "<");
    text = replace_all(text, "&gt;", ">");
  }
  return text;
}

std::string tokenize_13a(std::string_view line) {
  std::string text = " ";
  text += replace_all(line, "<skipped>", "");
  if (text.find('\n') != std::string::npos) {
    text = replace_all(replace_all(text, "-\n", ""), "\n", " ");
  }
  return separate_western_punctuation(replace_entities(text) + " ");
}

}  // namespace dragoman::evaluation
