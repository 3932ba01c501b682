#include "serving/text_plan.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "base/utf8.h"

namespace dragoman::serving {
namespace {

bool has_words(std::string_view text) {
  return std::ranges::any_of(base::decode_utf8(text),
                             [](char32_t c) { return u_isalnum(static_cast<UChar32>(c)) != 0; });
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return result;
}

const std::string& text_of(const decoding::Translation& line, size_t rank) {
  const size_t last = std::min(rank, line.alternatives.size());
  return last == 0 ? line.text : line.alternatives[last - 1].text;
}

}  // namespace

size_t TextPlan::lines() const {
  return static_cast<size_t>(std::ranges::count(pieces, true, &Piece::is_line));
}

TextPlan plan_text(std::string_view text) {
  TextPlan plan;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_suffix(line.ends_with('\r') ? 1 : 0);
    plan.pieces.push_back({has_words(line), std::string(line)});
    if (end == text.size()) {
      return plan;
    }
    plan.pieces.push_back({false, "\n"});
    text.remove_prefix(end + 1);
  }
}

std::string assemble(const TextPlan& plan, std::span<const decoding::Translation> lines, size_t rank) {
  std::string result;
  size_t line = 0;
  for (const TextPlan::Piece& piece : plan.pieces) {
    if (!piece.is_line) {
      result += piece.text;
    } else {
      const std::string& text = text_of(lines[line++], rank);
      result += plan.is_html ? escaped(text) : text;
    }
  }
  return result;
}

std::vector<std::string> alternatives_of(const TextPlan& plan, std::span<const decoding::Translation> lines,
                                         size_t count) {
  const std::string best = assemble(plan, lines);
  std::vector<std::string> texts;
  for (size_t rank = 1; rank <= count; ++rank) {
    std::string text = assemble(plan, lines, rank);
    if (text != best && std::ranges::find(texts, text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::string words_of(const TextPlan& plan) {
  std::string words;
  for (const TextPlan::Piece& piece : plan.pieces) {
    words += piece.is_line ? piece.text + " " : "";
  }
  return words;
}

size_t count_characters(std::string_view text) {
  constexpr unsigned kContinuationMask = 0xC0;
  constexpr unsigned kContinuation = 0x80;
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & kContinuationMask) != kContinuation; }));
}

}  // namespace dragoman::serving
