// Any text in one of several languages: where its sentences end, and what a plan makes of it.
#include <array>

#include "base/utf8.h"
#include "fuzz.h"
#include "serving/text/text_plan.h"

using namespace dragoman;

// The first byte chooses the language.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  constexpr std::array<const char*, 8> kLanguages = {"", "en", "de", "fr", "hu", "el", "hy", "zh"};
  if (size == 0) {
    return 0;
  }
  const char* const language = kLanguages[data[0] % kLanguages.size()];
  const std::string text = base::repair_utf8(fuzz::text_of(data + 1, size - 1));
  const std::string line = text.substr(0, text.find('\n'));
  size_t begin = 0;
  for (const size_t end : serving::sentence_ends(line, language)) {
    fuzz::require(end > begin && end < line.size(), "ends rise, and lie inside the line");
    fuzz::require(base::is_valid_utf8(line.substr(begin, end - begin)), "no character is cut");
    fuzz::require(serving::has_words(line.substr(begin, end - begin)), "a sentence has words");
    begin = end;
  }
  const serving::TextPlan plan = serving::plan_text(text, serving::Sentences::kApart, language);
  std::vector<decoding::Translation> copies;
  for (const serving::TextPlan::Piece& piece : plan.pieces) {
    if (piece.is_line) {
      copies.emplace_back().text = piece.text;
    }
  }
  fuzz::require(serving::assemble(plan, copies) == serving::unchanged(plan),
                "a translator that copies changes nothing");
  return 0;
}
