#include "serving/text/text_plan.h"

#include <unicode/uchar.h>
#include <unicode/uniset.h>

#include <algorithm>

#include "base/utf8.h"
#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

// The best translation of a line, or its `rank`-th alternative.
const decoding::Translation& chosen_of(const decoding::Translation& line, size_t rank) {
  const size_t last = std::min(rank, line.alternatives.size());
  return last == 0 ? line : line.alternatives[last - 1];
}

// Returns a line as it is written in the text.
std::string line_text(const TextPlan::Piece& piece, const decoding::Translation& line, size_t rank, bool is_html) {
  const decoding::Translation& chosen = chosen_of(line, rank);
  if (is_html && chosen.text == piece.text) {
    return piece.original;
  }
  if (!piece.tags.empty()) {
    return with_tags(piece.tags, {piece.text, chosen.text, line.source_pieces, chosen.pieces, chosen.alignment});
  }
  return is_html ? escaped_html(chosen.text) : chosen.text;
}

// Returns the blanks between a sentence and the next one. A sentence that stays keeps its blanks.
std::string gap_behind(std::string_view sentence, std::string_view source, const std::string& blanks) {
  if (sentence == source) {
    return blanks;
  }
  constexpr std::string_view kWide[] = {"。", "！", "？", "」", "』", "”"};
  const bool is_wide = std::ranges::any_of(kWide, [&](std::string_view mark) { return sentence.ends_with(mark); });
  return is_wide ? std::string() : blanks.empty() ? " " : blanks;
}

// The characters with the Unicode property White_Space.
const icu::UnicodeSet& white_space() {
  static const icu::UnicodeSet set = [] {
    UErrorCode error = U_ZERO_ERROR;
    icu::UnicodeSet white;
    white.applyIntPropertyValue(UCHAR_WHITE_SPACE, 1, error);
    white.freeze();
    return white;
  }();
  return set;
}

// Returns the number of bytes of the blanks at the begin of `text`.
size_t leading_blanks(std::string_view text) {
  return static_cast<size_t>(
      white_space().spanUTF8(text.data(), static_cast<int32_t>(text.size()), USET_SPAN_CONTAINED));
}

// Returns the number of bytes before the blanks at the end of `text`.
size_t before_trailing_blanks(std::string_view text) {
  return static_cast<size_t>(
      white_space().spanBackUTF8(text.data(), static_cast<int32_t>(text.size()), USET_SPAN_CONTAINED));
}

void add_unchanged(TextPlan& plan, std::string_view text) {
  if (!text.empty()) {
    plan.pieces.push_back({.text = std::string(text)});
  }
}

// Adds a line that has words and no blanks at its ends.
void add_sentences(TextPlan& plan, std::string_view line, Sentences sentences) {
  size_t begin = 0;
  for (const size_t end : sentences == Sentences::kApart ? sentence_ends(line, plan.language) : std::vector<size_t>()) {
    const size_t next = end + leading_blanks(line.substr(end));
    plan.pieces.push_back({.is_line = true, .text = std::string(line.substr(begin, end - begin))});
    plan.pieces.push_back({.text = std::string(line.substr(end, next - end)), .is_gap = true});
    begin = next;
  }
  plan.pieces.push_back({.is_line = true, .text = std::string(line.substr(begin))});
}

void add_line(TextPlan& plan, std::string_view line, Sentences sentences) {
  if (!has_words(line)) {
    return add_unchanged(plan, line);
  }
  const size_t begin = leading_blanks(line);
  const size_t end = before_trailing_blanks(line);
  add_unchanged(plan, line.substr(0, begin));
  add_sentences(plan, line.substr(begin, end - begin), sentences);
  add_unchanged(plan, line.substr(end));
}

}  // namespace

bool has_words(std::string_view text) {
  return std::ranges::any_of(base::decode_utf8(text),
                             [](char32_t c) { return u_isalnum(static_cast<UChar32>(c)) != 0; });
}

size_t TextPlan::lines() const {
  return static_cast<size_t>(std::ranges::count(pieces, true, &Piece::is_line));
}

bool TextPlan::has_tags() const {
  return std::ranges::any_of(pieces, [](const Piece& piece) { return !piece.tags.empty(); });
}

std::string unchanged(const TextPlan& plan) {
  if (plan.is_html) {
    return plan.original;
  }
  std::string text;
  for (const TextPlan::Piece& piece : plan.pieces) {
    text += piece.text;
  }
  return text;
}

TextPlan plan_text(std::string_view text, Sentences sentences, std::string_view language) {
  TextPlan plan{.pieces = {}, .language = std::string(language)};
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_suffix(line.ends_with('\r') ? 1 : 0);
    add_line(plan, line, sentences);
    if (end == text.size()) {
      return plan;
    }
    plan.pieces.push_back({.text = "\n"});
    text.remove_prefix(end + 1);
  }
}

std::string assemble(const TextPlan& plan, std::span<const decoding::Translation> lines, size_t rank) {
  std::string result;
  size_t line = 0;
  std::string_view source;  // of the last line
  for (const TextPlan::Piece& piece : plan.pieces) {
    source = piece.is_line ? piece.text : source;
    if (piece.is_gap) {
      result += gap_behind(chosen_of(lines[line - 1], rank).text, source, piece.text);
    } else if (!piece.is_line) {
      result += piece.text;
    } else {
      result += line_text(piece, lines[line++], rank, plan.is_html);
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

}  // namespace dragoman::serving
