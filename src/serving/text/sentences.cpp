#include "serving/text/sentences.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace dragoman::serving {
namespace {

// Abbreviations behind which a full stop ends no sentence. One list for all languages: none of them is a word
// elsewhere.
constexpr std::u32string_view kAbbreviations[] = {
    U"mr",     U"mrs",  U"ms",  U"dr",  U"prof", U"st",  U"jr",   U"sr",  U"vs",   U"etc",  U"inc",  U"ltd",
    U"co",     U"corp", U"no",  U"nr",  U"fig",  U"vol", U"pp",   U"gen", U"col",  U"capt", U"lt",   U"sgt",
    U"rev",    U"hon",  U"gov", U"sen", U"rep",  U"hr",  U"fr",   U"bzw", U"ca",   U"usw",  U"evtl", U"ggf",
    U"inkl",   U"str",  U"abs", U"art", U"bd",   U"vgl", U"sog",  U"mme", U"mlle", U"cf",   U"sra",  U"srta",
    U"approx", U"dept", U"est", U"jan", U"feb",  U"aug", U"sept", U"okt", U"nov",  U"dez"};

bool is_letter(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) != 0;
}

bool is_white(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

bool is_wide_mark(char32_t c) {
  return c == U'。' || c == U'！' || c == U'？' || c == U'｡';
}

bool is_mark(char32_t c) {
  return c == U'.' || c == U'!' || c == U'?' || c == U'…' || is_wide_mark(c);
}

bool closes(char32_t c) {
  const int8_t kind = u_charType(static_cast<UChar32>(c));
  return c == U'"' || c == U'\'' || kind == U_END_PUNCTUATION || kind == U_FINAL_PUNCTUATION || c == U'“';
}

bool opens(char32_t c) {
  const int8_t kind = u_charType(static_cast<UChar32>(c));
  return c == U'"' || c == U'\'' || c == U'¿' || c == U'¡' || kind == U_START_PUNCTUATION ||
         kind == U_INITIAL_PUNCTUATION;
}

// Returns whether a sentence may begin at `at`: not with a small letter, a digit, or a mark other than an opening one.
bool begins_sentence(std::u32string_view text, size_t at) {
  while (at < text.size() && opens(text[at])) {
    ++at;
  }
  const UChar32 first = at < text.size() ? static_cast<UChar32>(text[at]) : 0;
  return u_isalpha(first) != 0 && u_islower(first) == 0;
}

// Returns whether the full stop at `mark` belongs to an abbreviation.
bool is_abbreviation(std::u32string_view text, size_t mark) {
  size_t begin = mark;
  while (begin > 0 && is_letter(text[begin - 1])) {
    --begin;
  }
  std::u32string word(text.substr(begin, mark - begin));
  const bool is_number = std::ranges::all_of(word, [](char32_t c) { return u_isdigit(static_cast<UChar32>(c)) != 0; });
  if (word.size() < 2 || (is_number && word.size() == 2)) {
    return !word.empty();
  }
  std::ranges::transform(word, word.begin(),
                         [](char32_t c) { return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))); });
  return std::ranges::find(kAbbreviations, word) != std::end(kAbbreviations);
}

// Returns the end of the sentence whose last mark is at `mark`, or 0 if no sentence ends there.
size_t end_behind(std::u32string_view text, size_t mark) {
  size_t end = mark + 1;
  while (end < text.size() && closes(text[end])) {
    ++end;
  }
  size_t next = end;
  while (next < text.size() && is_white(text[next])) {
    ++next;
  }
  if (next == text.size()) {
    return 0;
  }
  if (is_wide_mark(text[mark])) {
    return end;
  }
  const bool is_end = next > end && begins_sentence(text, next);
  return is_end && !(text[mark] == U'.' && is_abbreviation(text, mark)) ? end : 0;
}

}  // namespace

std::vector<size_t> sentence_ends(std::string_view line) {
  const std::u32string text = base::decode_utf8(line);
  std::vector<size_t> ends;
  bool has_words = false;  // a letter or digit follows the last end
  size_t last_word = text.size();
  while (last_word > 0 && !is_letter(text[last_word - 1])) {
    --last_word;
  }
  size_t bytes = 0;  // number of bytes before `at`
  for (size_t at = 0; at < last_word;) {
    has_words = has_words || is_letter(text[at]);
    const bool is_last_mark = is_mark(text[at]) && (at + 1 == text.size() || !is_mark(text[at + 1]));
    const size_t end = is_last_mark && has_words ? end_behind(text, at) : 0;
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
