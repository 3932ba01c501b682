#include "data/vocabulary/sentinels.h"

#include "base/error.h"
#include "data/vocabulary/piece_list.h"

namespace dragoman::data {

std::vector<int32_t> sentinel_ids(const Vocabulary& vocabulary) {
  std::vector<int32_t> ids;
  for (int64_t number = 0; number < vocabulary.size(); ++number) {
    const int32_t id = vocabulary.id(sentinel_piece(number));
    if (id == vocabulary.special().unk || id < 0) {
      break;
    }
    ids.push_back(id);
  }
  return ids;
}

Vocabulary with_sentinels(const Vocabulary& vocabulary, int64_t count) {
  base::check_usage(vocabulary.format() == Vocabulary::Format::kSentencePiece && sentinel_ids(vocabulary).empty(),
                    "vocabulary: sentinels can be added to a SentencePiece model without sentinels only");
  std::vector<std::string> pieces(kSpecialPieces.begin(), kSpecialPieces.end());
  for (int32_t id = static_cast<int32_t>(pieces.size()); id < vocabulary.size(); ++id) {
    pieces.push_back(vocabulary.piece(id));
  }
  for (int64_t number = count - 1; number >= 0; --number) {
    pieces.push_back(sentinel_piece(number));
  }
  const std::string bare = without_piece_list(vocabulary.bytes(), "vocabulary");
  return Vocabulary::from_bytes(with_piece_list(bare, pieces, "vocabulary"), "vocabulary");
}

}  // namespace dragoman::data
