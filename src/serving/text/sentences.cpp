#include "serving/text/sentences.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "decoding/search/scripts.h"
#include "serving/text/sentence_rules.h"

namespace dragoman::serving {
namespace {

using decoding::written_without_spaces;

UChar32 icu_code(char32_t c) {
  return static_cast<UChar32>(c);
}

bool is_letter_or_digit(char32_t c) {
  return u_isalnum(icu_code(c)) != 0;
}

// Letters, digits and the accents and vowels above and below them.
bool is_word_part(char32_t c) {
  return is_letter_or_digit(c) || (U_GET_GC_MASK(icu_code(c)) & U_GC_M_MASK) != 0;
}

bool has_case(char32_t c) {
  return u_hasBinaryProperty(icu_code(c), UCHAR_CASED) != 0;
}

bool is_decimal(char32_t c) {
  return u_isdigit(icu_code(c)) != 0;
}

bool is_white(char32_t c) {
  return u_isUWhiteSpace(icu_code(c)) != 0;
}

bool is_dash(char32_t c) {
  return u_charType(icu_code(c)) == U_DASH_PUNCTUATION;
}

// The marks of scripts with capitals.
bool is_weak_mark(char32_t c) {
  constexpr char32_t kFirstDouble = 0x203C, kLastDouble = 0x2049;  // ‼ to ⁉
  return c == U'.' || c == U'!' || c == U'?' || c == U'…' || (c >= kFirstDouble && c <= kLastDouble);
}

bool is_roman(std::u32string_view word) {
  constexpr size_t kLongest = 5;
  return !word.empty() && word.size() <= kLongest && word.find_first_not_of(U"IVXL") == std::u32string_view::npos;
}

std::u32string lower_case(std::u32string_view word) {
  std::u32string lower(word);
  std::ranges::transform(lower, lower.begin(),
                         [](char32_t c) { return static_cast<char32_t>(u_tolower(icu_code(c))); });
  return lower;
}

// Returns whether a list of abbreviations has the word as it is, in small letters, or with one capital.
bool has_abbreviation(std::u32string_view list, std::u32string_view word) {
  const std::u32string lower = lower_case(word);
  if (has_word(list, word) || has_word(list, lower)) {
    return true;
  }
  std::u32string title = lower;
  title.front() = static_cast<char32_t>(u_totitle(icu_code(title.front())));
  return word.size() > 1 && u_isupper(icu_code(word.back())) != 0 && has_word(list, title);
}

bool has_ending(std::u32string_view ending, std::u32string_view word) {
  return !ending.empty() && word.size() > ending.size() && word.ends_with(ending);
}

// A line and the rules of its language. Positions are characters.
struct Line {
  Line(std::u32string_view line, const SentenceRules& of_language);

  std::u32string_view text;
  const SentenceRules& rules;
  std::vector<bool> is_quoted;  // the number of " before a character is odd
  std::vector<bool> is_title;   // a character is inside 《 and 》

  char32_t at(size_t place) const { return place < text.size() ? text[place] : U'\0'; }
  // Weak marks also stand inside a sentence, so they need blanks and a beginning behind them.
  bool is_weak(size_t mark) const { return is_weak_mark(at(mark)) || at(mark) == rules.mark; }
  size_t skip_blanks(size_t place) const {
    while (is_white(at(place))) {
      ++place;
    }
    return place;
  }

  bool is_mark(size_t place) const;
  bool closes(size_t place) const;
  bool opens(size_t place) const;
  size_t behind_closing(size_t mark) const;
  size_t behind_opening(size_t place) const;
  bool begins_sentence(size_t place) const;
  bool is_opener(size_t place) const;
  bool is_number_at(size_t place) const;
  std::u32string with_letter_before(size_t first, std::u32string_view token) const;
  bool ends_without_blanks(size_t mark, size_t next) const;
  bool is_behind_capital(size_t place) const;
  bool is_inside(size_t first_word, size_t mark, size_t next) const;
  size_t end_behind(size_t first_word, size_t mark) const;
};

Line::Line(std::u32string_view line, const SentenceRules& of_language)
    : text(line), rules(of_language), is_quoted(line.size() + 1), is_title(line.size()) {
  size_t open = std::u32string_view::npos;
  for (size_t place = 0; place < text.size(); ++place) {
    is_quoted[place + 1] = is_quoted[place] != (text[place] == U'"');
    if (text[place] == U'《') {
      open = place;
    } else if (text[place] == U'》') {
      for (; open < place; ++open) {
        is_title[open] = true;
      }
      open = std::u32string_view::npos;
    }
  }
}

bool Line::is_mark(size_t place) const {
  constexpr char32_t kKhmer = 0x17D4;  // Unicode 15 does not count it
  const char32_t c = at(place);
  return u_hasBinaryProperty(icu_code(c), UCHAR_S_TERM) != 0 || c == U'…' || c == kKhmer || (c != 0 && c == rules.mark);
}

// Returns whether the character at `place`, behind a mark, belongs to the sentence of the mark.
bool Line::closes(size_t place) const {
  const char32_t c = at(place);
  const int8_t kind = u_charType(icu_code(c));
  const int8_t next = u_charType(icu_code(at(place + 1)));
  const bool is_last =
      place + 1 >= text.size() || is_white(at(place + 1)) || next == U_END_PUNCTUATION || next == U_FINAL_PUNCTUATION;
  if (c == U'"' && !is_last) {
    return is_quoted[place];
  }
  if (kind == U_INITIAL_PUNCTUATION) {
    return is_last;  // “ and « close in some languages
  }
  return c == U'"' || c == U'\'' || kind == U_END_PUNCTUATION || kind == U_FINAL_PUNCTUATION;
}

bool Line::opens(size_t place) const {
  const char32_t c = at(place);
  const int8_t kind = u_charType(icu_code(c));
  return c == U'"' || c == U'\'' || c == U'`' || c == U'¿' || c == U'¡' || kind == U_CURRENCY_SYMBOL ||
         kind == U_START_PUNCTUATION || kind == U_INITIAL_PUNCTUATION ||
         (kind == U_FINAL_PUNCTUATION && rules.points_inwards);
}

// Returns the place behind the quotes, brackets and citations that follow a mark.
size_t Line::behind_closing(size_t mark) const {
  size_t end = mark + 1;
  while (end < text.size()) {
    size_t digits = end + 1;
    while (is_decimal(at(digits))) {
      ++digits;
    }
    if (at(end) == U'[' && digits > end + 1 && at(digits) == U']') {
      end = digits + 1;
    } else if (closes(end)) {
      ++end;
    } else {
      break;
    }
  }
  const size_t next = skip_blanks(end);  // French sets a blank before »
  const bool is_french_quote = at(next) == U'»' && !rules.points_inwards;
  return is_french_quote ? next + 1 : end;
}

// Returns the place behind quotes, brackets and a dash before the first word of a sentence.
size_t Line::behind_opening(size_t place) const {
  while (opens(place)) {
    ++place;
  }
  if (is_dash(at(place)) && is_white(at(place + 1))) {
    place = skip_blanks(place + 1);
  }
  while (opens(place) || (place > 0 && opens(place - 1) && is_white(at(place)))) {
    ++place;
  }
  return place;
}

bool Line::begins_sentence(size_t place) const {
  const char32_t first = at(place);
  const bool is_small = u_islower(icu_code(first)) != 0 && u_isupper(icu_code(at(place + 1))) == 0;  // but iPhone
  return is_letter_or_digit(first) && !is_small;
}

// Returns whether the word at `place` begins sentences and is no name.
bool Line::is_opener(size_t place) const {
  size_t end = place;
  while (end < text.size() && is_word_part(text[end])) {
    ++end;
  }
  const bool is_initial = end == place + 1 && at(end) == U'.';
  return end > place && !is_initial && has_word(rules.openers, lower_case(text.substr(place, end - place)));
}

// Returns a token of one letter with the letter and the full stop that stand before its blank: z.B for z. B
std::u32string Line::with_letter_before(size_t first, std::u32string_view token) const {
  constexpr size_t kLetterStopBlank = 3;
  const bool has_letter = token.size() == 1 && first >= kLetterStopBlank && is_white(text[first - 1]) &&
                          text[first - 2] == U'.' && is_letter_or_digit(text[first - 3]) &&
                          (first == kLetterStopBlank || !is_word_part(text[first - 4]));
  return (has_letter ? std::u32string{text[first - 3], U'.'} : std::u32string()) + std::u32string(token);
}

bool Line::is_number_at(size_t place) const {
  size_t end = place;
  while (end < text.size() && is_letter_or_digit(text[end])) {
    ++end;
  }
  const std::u32string_view word = text.substr(place, end - place);
  return is_decimal(at(place)) || (is_roman(word) && !has_word(rules.letters, word));
}

// Returns whether the word before the one at `place` begins with a capital.
bool Line::is_behind_capital(size_t place) const {
  while (place > 0 && is_white(text[place - 1])) {
    --place;
  }
  while (place > 0 && is_word_part(text[place - 1])) {
    --place;
  }
  return u_isupper(icu_code(at(place))) != 0;
}

// Returns whether the full stop at `mark` stands inside a sentence, if another one could begin at `next`.
// @param first_word  the begin of the first word of the sentence
bool Line::is_inside(size_t first_word, size_t mark, size_t next) const {
  size_t first = mark;
  while (first > first_word && (is_word_part(text[first - 1]) || text[first - 1] == U'.')) {
    --first;
  }
  const std::u32string_view token = text.substr(first, mark - first);
  const std::u32string_view word = token.substr(token.rfind(U'.') + 1);
  if (word.empty()) {
    return false;
  }
  constexpr size_t kLongestNumber = 3;
  const bool is_number = std::ranges::all_of(word, is_decimal);
  const bool is_one_letter = word.size() == 1 && has_case(word.front());
  const bool is_short = is_one_letter || (is_number && word.size() <= kLongestNumber) || is_roman(word);
  if (is_short && token.size() == word.size() && first <= first_word) {
    return true;  // it numbers the sentence
  }
  if (has_abbreviation(rules.inside, with_letter_before(first, token)) ||
      (has_abbreviation(rules.numbers, token) && is_number_at(next))) {
    return true;
  }
  const bool is_ordinal = rules.has_ordinals && ((is_number && word.size() < kLongestNumber) || is_roman(word));
  const bool is_initial = is_one_letter && (token.size() > 1 || !has_word(rules.letters, token) ||
                                            at(next + 1) == U'.' || is_behind_capital(first));
  return (is_ordinal || is_initial || has_abbreviation(rules.at_ends, token) || has_ending(rules.ending, token)) &&
         !is_opener(next);
}

// Returns whether the mark at `mark` ends a sentence if no blanks stand between its sentence and `next`.
bool Line::ends_without_blanks(size_t mark, size_t next) const {
  const char32_t after = at(next);
  if (is_weak(mark)) {
    if (text[mark] == U'…' || !is_letter_or_digit(after) || !written_without_spaces(after)) {
      return false;
    }
    size_t before = mark;
    while (before > 0 && !is_letter_or_digit(text[before])) {
      --before;
    }
    return is_letter_or_digit(text[before]) && written_without_spaces(text[before]);
  }
  const bool is_in_number =
      text[mark] == U'．' && (is_decimal(after) || (is_letter_or_digit(after) && !written_without_spaces(after)));
  const bool is_said = next > mark + 1 && (after == U'と' || after == U'っ');  // Japanese: 」と and 」って
  const bool is_comma =
      u_getIntPropertyValue(icu_code(after), UCHAR_SENTENCE_BREAK) == U_SB_SCONTINUE && !is_dash(after);
  return !is_in_number && !is_said && !is_comma;
}

// Returns the end of the sentence whose first word begins at `first_word` and whose last mark is at `mark`, or 0 if it
// goes on.
size_t Line::end_behind(size_t first_word, size_t mark) const {
  const size_t end = behind_closing(mark);
  const size_t next = skip_blanks(end);
  if (next == text.size()) {
    return 0;
  }
  if (next == end || !is_weak(mark)) {
    return ends_without_blanks(mark, next) ? end : 0;
  }
  const size_t first = behind_opening(next);
  const bool is_end = begins_sentence(first) && !(text[mark] == U'.' && is_inside(first_word, mark, first));
  return is_end ? end : 0;
}

}  // namespace

std::vector<size_t> sentence_ends(std::string_view line, std::string_view language) {
  const std::u32string text = base::decode_utf8(line);
  const Line whole{text, sentence_rules(language)};
  std::vector<size_t> ends;
  bool has_words = false;  // a letter or digit follows the last end
  size_t first_word = 0;   // its place
  size_t last_word = text.size();
  while (last_word > 0 && !is_letter_or_digit(text[last_word - 1])) {
    --last_word;
  }
  size_t bytes = 0;  // number of bytes before `at`
  for (size_t at = 0; at < last_word;) {
    if (!has_words && is_letter_or_digit(text[at])) {
      has_words = true;
      first_word = at;
    }
    const bool is_last_mark = has_words && !whole.is_title[at] && whole.is_mark(at) && !whole.is_mark(at + 1);
    const size_t end = is_last_mark ? whole.end_behind(first_word, at) : 0;
    const size_t next = end != 0 ? end : at + 1;
    bytes += base::encode_utf8(std::u32string_view(text).substr(at, next - at)).size();
    at = next;
    if (end != 0 && end < last_word) {
      ends.push_back(bytes);
      has_words = false;
    }
  }
  return ends;
}

}  // namespace dragoman::serving
