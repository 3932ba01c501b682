// Any bytes as text to translate: cut into lines, repaired, cut into parts that fit, into pieces, and joined again.
#include <algorithm>

#include "../decoding/tiny_vocabulary.h"
#include "base/utf8.h"
#include "decoding/text_splitter.h"
#include "fuzz.h"

namespace {

using namespace dragoman;

std::string without_blanks(const std::string& text) {
  std::string kept;
  std::ranges::copy_if(text, std::back_inserter(kept), [](char c) { return c != ' '; });
  return kept;
}

void look_at(const std::string& line, size_t longest) {
  const data::Vocabulary& vocabulary = decoding::vocabulary();
  const std::string repaired = base::repair_utf8(line);
  fuzz::require(base::is_valid_utf8(repaired), "repaired text is valid");
  fuzz::require(base::repair_utf8(repaired) == repaired, "what is valid is left alone");
  std::string joined;
  for (const std::string& part : decoding::split_long_text(vocabulary, repaired, longest)) {
    fuzz::require(base::is_valid_utf8(part), "parts are cut between characters");
    fuzz::require(data::encode_source(vocabulary, part).size() <= longest, "parts fit");
    joined += part;
  }
  fuzz::require(without_blanks(joined) == without_blanks(repaired), "nothing is lost but blanks");
  for (const int32_t id : vocabulary.encode(repaired)) {
    fuzz::require(id >= 0 && id < vocabulary.size(), "ids are of the vocabulary");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const size_t longest = size == 0 ? 8 : 8 + data[0] % 32;
  for (const std::string& line : base::split_lines(fuzz::text_of(data, size))) {
    look_at(line, longest);
  }
  return 0;
}
