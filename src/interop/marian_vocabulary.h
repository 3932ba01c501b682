#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interop/marian_config.h"

namespace dragoman::interop {

/// The mapping from the ids of a MarianMT model to ours. Marian has three special ids and dragoman four: the first
/// input of the decoder, which in Marian is mostly the pad id, has a separate id. So a vocabulary has one id more.
struct MarianVocabulary {
  std::vector<std::string> pieces;  ///< [V + 1] <pad>, <unk>, <s>, </s>, then the other pieces in Marian's order
  std::vector<int64_t> marian_ids;  ///< [V + 1] Marian's id of each of our ids
};

/// Reads vocab.json, {"piece": id, ...}.
/// Throws: Error(kBadData) with file, piece and id, for another kind of JSON, for an id that is missing, repeated or
///         not in [0, size), and for special pieces that differ from config.json: "vocab.json: id 0 is 'the',
///         config.json calls it </s>".
/// @param size  vocab_size of config.json, or decoder_vocab_size
[[nodiscard]] MarianVocabulary marian_vocabulary_from_json(std::string_view text, const std::string& file_name,
                                                           int64_t size, const MarianConfig& config);

/// Returns `spm` with the piece list of `vocabulary`. A piece of `spm` that the list does not have is read as <unk>, as
/// in Marian, and a line is added to `notes`.
/// Throws: Error(kBadData) for a sub-word model that data::Vocabulary does not read, or one of another model:
///         "source.spm: 300 of its 320 pieces are not in vocab.json; the files are of different models".
[[nodiscard]] std::string with_marian_ids(std::string_view spm, const std::string& file_name,
                                          const MarianVocabulary& vocabulary, std::vector<std::string>& notes);

}  // namespace dragoman::interop
