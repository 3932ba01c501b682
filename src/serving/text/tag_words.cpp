#include "serving/text/tag_words.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>

#include "base/utf8.h"
#include "data/vocabulary/piece_list.h"

namespace dragoman::serving {
namespace {

constexpr char32_t kPieceSpace = 0x2581;  // the space of sub-words

bool is_space(char32_t c) {
  return c == kPieceSpace || u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

// Letters and digits of scripts with spaces between words join to words. Every other character is a word by itself.
bool joins(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  UErrorCode error = U_ZERO_ERROR;
  const bool is_mark = (U_GET_GC_MASK(code) & U_GC_M_MASK) != 0;
  return (u_isalnum(code) != 0 || is_mark) && uscript_breaksBetweenLetters(uscript_getScript(code, &error)) == 0;
}

enum class Side { kSource, kTarget };

// Only the source ends with </s>, which stands for no character. Neither does the code of a language.
bool is_no_text(const std::string& piece, Side side) {
  return (side == Side::kSource && piece == "</s>") || data::is_language_piece(piece);
}

// The pieces of one side laid over the characters of its text. If the numbers of characters differ (normalised text,
// unknown characters), the pieces are stretched.
struct Layout {
  Layout(std::span<const std::string> pieces, size_t characters, Side side) : ends(pieces.size(), 0) {
    size_t sum = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      sum += is_no_text(pieces[i], side) ? 0 : count_without_spaces(pieces[i]);
      ends[i] = sum;
    }
    for (size_t& end : ends) {
      end = sum == 0 ? 0 : end * characters / sum;
    }
  }
  size_t begin(size_t piece) const { return piece == 0 ? 0 : ends[piece - 1]; }
  bool is_empty(size_t piece) const { return begin(piece) == ends[piece]; }
  size_t middle(size_t piece) const { return (begin(piece) + ends[piece]) / 2; }
  // The piece that holds a character.
  size_t piece_of(size_t character) const {
    return static_cast<size_t>(std::ranges::upper_bound(ends, character) - ends.begin());
  }

  std::vector<size_t> ends;  // characters before the end of each piece
};

// Sets the source characters to which the word of the characters [begin, end) attends.
void look(TagWord& word, size_t begin, size_t end, const Layout& target, const Layout& source,
          const decoding::Alignment& alignment) {
  const auto n_source = static_cast<size_t>(alignment.source_length);
  const size_t first = target.piece_of(begin);
  const size_t last = std::min(target.piece_of(end - 1), target.ends.size() - 1);
  float most = 0.0F;
  for (size_t piece = 0; piece < n_source; ++piece) {
    if (source.is_empty(piece)) {
      continue;
    }
    TagWord::Look sum{source.middle(piece), 0.0F};
    for (size_t row = first; row <= last; ++row) {
      sum.weight += alignment.weights[row * n_source + piece];
    }
    if (sum.weight > most) {
      most = sum.weight;
      word.source = sum.source;
    }
    word.looks.push_back(sum);
  }
}

std::vector<TagWord> cut_words(std::string_view text) {
  std::vector<TagWord> words;
  bool may_join = false;
  size_t at = 0;
  for (const char32_t c : base::decode_utf8(text)) {
    const size_t size = base::encode_utf8(std::u32string_view(&c, 1)).size();
    const bool is_letter = joins(c);
    if (!is_space(c) && is_letter && may_join) {
      words.back().end = at + size;
    } else if (!is_space(c)) {
      words.push_back({.begin = at, .end = at + size, .looks = {}});
      words.back().has_letters = u_isalnum(static_cast<UChar32>(c)) != 0;
    }
    may_join = is_letter;
    at += size;
  }
  return words;
}

}  // namespace

size_t count_without_spaces(std::string_view text) {
  const std::u32string characters = base::decode_utf8(text);
  return characters.size() - static_cast<size_t>(std::ranges::count_if(characters, is_space));
}

std::vector<TagWord> tag_words(const AlignedText& sentence) {
  std::vector<TagWord> words = cut_words(sentence.text);
  const size_t n_source = count_without_spaces(sentence.source);
  const size_t n_target = count_without_spaces(sentence.text);
  const decoding::Alignment& alignment = sentence.alignment;
  const bool is_aligned = !sentence.pieces.empty() &&
                          alignment.target_length == static_cast<int64_t>(sentence.pieces.size()) &&
                          alignment.source_length == static_cast<int64_t>(sentence.source_pieces.size()) &&
                          alignment.weights.size() == sentence.pieces.size() * sentence.source_pieces.size();
  const Layout target(sentence.pieces, n_target, Side::kTarget);
  const Layout source(sentence.source_pieces, n_source, Side::kSource);
  size_t begin = 0;
  for (TagWord& word : words) {
    const size_t end = begin + count_without_spaces(sentence.text.substr(word.begin, word.end - word.begin));
    word.source = begin * n_source / std::max<size_t>(n_target, 1);  // by its relative position
    if (is_aligned && target.piece_of(begin) < target.ends.size()) {
      look(word, begin, end, target, source, alignment);
    }
    begin = end;
  }
  return words;
}

}  // namespace dragoman::serving
