// Any bytes as a tokenizer: a tokenizer.json, or the SentencePiece model of a Llama. What is read writes and reads
// text.
#include "base/utf8.h"
#include "data/vocabulary/vocabulary.h"
#include "fuzz.h"
#include "interop/sentencepiece_tokenizer.h"

namespace {

using namespace dragoman;

void use(const data::Vocabulary& vocabulary) {
  for (const char* text : {"", " ", "the cat", "a\n\nb  12345 x", "\u4f60\u597d <s>\u2581</s>", "<|endoftext|>it's"}) {
    const std::vector<int32_t> ids = vocabulary.encode(text);
    for (const int32_t id : ids) {
      fuzz::require(id >= 0 && id < vocabulary.size(), "ids are those of pieces");
    }
    fuzz::require(base::is_valid_utf8(vocabulary.decode(ids)), "decoded text is UTF-8");
    static_cast<void>(vocabulary.decode_bytes(ids));
    static_cast<void>(vocabulary.normalize(text));
  }
  const data::SpecialIds special = vocabulary.special();
  const data::Vocabulary again =
      data::Vocabulary::from_bytes(vocabulary.with_special(special).bytes(), "tokenizer.json");
  fuzz::require(again.special() == special && again.size() == vocabulary.size(), "special ids come back as they were");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const std::string text = fuzz::text_of(data, size);
  if (text.starts_with('{')) {
    fuzz::read_or_refuse([&] { use(data::Vocabulary::from_bytes(text, "tokenizer.json")); });
  } else {
    fuzz::read_or_refuse([&] {
      use(data::Vocabulary::from_bytes(interop::tokenizer_json_of_sentencepiece(text, "tokenizer.model", true),
                                       "tokenizer.json"));
    });
  }
  return 0;
}
