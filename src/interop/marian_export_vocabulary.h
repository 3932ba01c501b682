#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::interop {

/// One side's vocabulary as a MarianMT folder has it.
struct ExportedVocabulary {
  std::string spm;                     ///< the SentencePiece model, without a piece list
  std::vector<std::string> pieces;     ///< by Marian's id
  std::vector<int64_t> ours;           ///< our id of each of Marian's
  std::vector<int64_t> never_written;  ///< Marian's ids that our search never writes, <pad> the last of them
};

/// Where <pad> stands.
enum class PadPlace {
  kLast,   ///< as in the OPUS-MT models: when both sides have one vocabulary
  kThird,  ///< when both sides must have the same pad id but not the same number of pieces
};

/// Renumbers a vocabulary: </s> is 0, <unk> 1, then the pieces in our order. Marian's <pad> is what its decoder is fed
/// first, so it is our <s>; our <pad>, which is in no sentence but has a share in every softmax, stays under the name
/// <unused>, unless the model was imported and both are one (@param merge_pad).
/// Throws Error(kBadData) naming the file when the vocabulary has pieces called so.
ExportedVocabulary export_vocabulary(std::string_view spm, const std::string& file_name, PadPlace pad, bool merge_pad);

/// The text of vocab.json.
std::string vocabulary_json(const ExportedVocabulary& vocabulary);

}  // namespace dragoman::interop
