#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::interop {

/// The vocabulary of one side of a MarianMT folder.
struct ExportedVocabulary {
  std::string spm;                     ///< the SentencePiece model, without a piece list
  std::vector<std::string> pieces;     ///< the piece of each of Marian's ids
  std::vector<int64_t> ours;           ///< our id of each of Marian's ids
  std::vector<int64_t> never_written;  ///< Marian's ids that our search never writes; the last one is <pad>
};

/// The id of <pad>.
enum class PadPlace {
  kLast,   ///< the last id, as in the OPUS-MT models: for one vocabulary of both sides
  kThird,  ///< the third id: both sides have one pad id but different numbers of pieces
};

/// Renumbers a vocabulary: </s> gets 0, <unk> gets 1, then the pieces follow in our order. The first input of Marian's
/// decoder is <pad>, so our <s> becomes <pad>. Our <pad> is in no sentence but has a share in every softmax, so it
/// stays under the name <unused>.
/// Throws: Error(kBadData) with the file, if the vocabulary has such names as pieces.
/// @param merge_pad  our <pad> and <s> are one token, as in an imported model; then there is no <unused>
[[nodiscard]] ExportedVocabulary export_vocabulary(std::string_view spm, const std::string& file_name, PadPlace pad,
                                                   bool merge_pad);

/// Returns the text of vocab.json.
[[nodiscard]] std::string vocabulary_json(const ExportedVocabulary& vocabulary);

}  // namespace dragoman::interop
