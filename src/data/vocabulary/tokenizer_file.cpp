#include "data/vocabulary/tokenizer_file.h"

#include "base/files.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/spm_pieces.h"
#include "data/vocabulary/tokenizer_makers.h"

namespace dragoman::data {
namespace {

// Whether pad, unk, bos and eos are the pieces 0, 1, 2 and 3.
bool has_our_ids(const std::vector<SpmPiece>& pieces) {
  for (size_t id = 0; id < kSpecialPieces.size(); ++id) {
    const uint64_t type = id == kUnkId ? SpmPiece::kUnknown : SpmPiece::kControl;
    if (id >= pieces.size() || pieces[id].text != kSpecialPieces[id] || pieces[id].type != type) {
      return false;
    }
  }
  return true;
}

std::string with_our_ids(const std::string& spm, const std::string& name) {
  check_sentencepiece_model(spm, name);
  if (has_our_ids(spm_pieces(spm, name)) || !read_piece_list(spm, name).empty()) {
    return spm;
  }
  std::vector<std::string> pieces(kSpecialPieces.begin(), kSpecialPieces.end());
  const std::vector<std::string> theirs = written_pieces(spm, name);
  pieces.insert(pieces.end(), theirs.begin(), theirs.end());
  return with_piece_list(spm, pieces, name);
}

}  // namespace

Vocabulary read_tokenizer_file(const std::filesystem::path& file) {
  const std::string bytes = base::read_file(file, kMaxModelBytes);
  if (file.extension() == ".txt") {
    return from_vocab_txt(bytes, {});
  }
  const bool is_json = bytes.starts_with('{');
  return Vocabulary::from_bytes(is_json ? bytes : with_our_ids(bytes, file.string()), file.string());
}

}  // namespace dragoman::data
