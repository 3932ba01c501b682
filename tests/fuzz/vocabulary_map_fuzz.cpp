// Any bytes as the vocab.json of a MarianMT folder.
#include <algorithm>

#include "fuzz.h"
#include "interop/marian_vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace dragoman;
  constexpr int64_t kSize = 8;
  static const interop::MarianConfig config = interop::marian_config_from_json(
      R"({"model_type":"marian","vocab_size":8,"decoder_vocab_size":8,"d_model":16,"encoder_layers":1,"decoder_layers":1,)"
      R"("encoder_attention_heads":2,"decoder_attention_heads":2,"encoder_ffn_dim":16,"decoder_ffn_dim":16,)"
      R"("pad_token_id":7,"eos_token_id":0,"decoder_start_token_id":7,"max_position_embeddings":32,)"
      R"("activation_function":"swish","scale_embedding":true})",
      "config.json");
  fuzz::read_or_refuse([&] {
    const interop::MarianVocabulary vocabulary =
        interop::marian_vocabulary_from_json(fuzz::text_of(data, size), "vocab.json", kSize, config);
    fuzz::require(vocabulary.pieces.size() == kSize + 1 && vocabulary.marian_ids.size() == kSize + 1,
                  "there is a piece and an id for each of Marian's, and one more");
    for (const int64_t id : vocabulary.marian_ids) {
      fuzz::require(id >= 0 && id < kSize, "ids are Marian's");
    }
  });
  return 0;
}
