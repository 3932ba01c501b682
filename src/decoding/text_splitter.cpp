#include "decoding/text_splitter.h"

#include <array>

#include "base/ascii.h"

namespace dragoman::decoding {
namespace {

// How good a place is to cut at, best first.
enum class Boundary { kSentence, kClause, kSpace, kCharacter, kNone };

constexpr std::array<std::string_view, 6> kSentenceMarks = {".", "!", "?", "。", "！", "？"};
constexpr std::array<std::string_view, 6> kClauseMarks = {",", ";", ":", "，", "；", "、"};

template <size_t N>
bool ends_with_any(std::string_view text, const std::array<std::string_view, N>& marks) {
  for (const std::string_view mark : marks) {
    if (text.ends_with(mark)) {
      return true;
    }
  }
  return false;
}

bool is_ascii(char byte) {
  return static_cast<unsigned char>(byte) < 0x80;
}

// The boundary between text[0, place) and text[place, end). A mark ends a sentence if a space follows; the wide marks
// of Chinese and Japanese need none.
Boundary boundary_at(std::string_view text, size_t place) {
  if ((static_cast<unsigned char>(text[place]) & 0xC0) == 0x80) {
    return Boundary::kNone;  // inside a character
  }
  const std::string_view before = text.substr(0, place);
  const bool space = text[place] == ' ';
  if ((space || !is_ascii(before.back())) && ends_with_any(before, kSentenceMarks)) {
    return Boundary::kSentence;
  }
  if ((space || !is_ascii(before.back())) && ends_with_any(before, kClauseMarks)) {
    return Boundary::kClause;
  }
  return space ? Boundary::kSpace : Boundary::kCharacter;
}

// The best place in the middle half of the text, the nearest to the middle of equals. 0 when there is none.
size_t place_to_cut(std::string_view text) {
  const size_t middle = text.size() / 2;
  size_t best = 0;
  Boundary best_boundary = Boundary::kNone;
  for (size_t distance = 0; distance <= text.size() / 4; ++distance) {
    for (const size_t place : {middle - distance, middle + distance}) {
      if (place == 0 || place >= text.size()) {
        continue;
      }
      const Boundary boundary = boundary_at(text, place);
      if (boundary < best_boundary) {
        best = place;
        best_boundary = boundary;
      }
    }
  }
  return best;
}

}  // namespace

std::vector<std::string> split_long_text(const data::Vocabulary& vocabulary, std::string_view text, size_t max_tokens) {
  std::vector<std::string> parts;
  std::vector<std::string_view> waiting = {text};  // the next part is last
  while (!waiting.empty()) {
    const std::string_view part = waiting.back();
    waiting.pop_back();
    const size_t place = data::encode_source(vocabulary, part).size() <= max_tokens ? 0 : place_to_cut(part);
    if (place == 0) {
      parts.emplace_back(part);
      continue;
    }
    for (const std::string_view half : {base::trim(part.substr(place), " "), base::trim(part.substr(0, place), " ")}) {
      if (!half.empty()) {
        waiting.push_back(half);
      }
    }
  }
  return parts;
}

}  // namespace dragoman::decoding
