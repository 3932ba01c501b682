#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interop/marian_config.h"

namespace dragoman::interop {

/// How vocab.json and the ids of a MarianMT model become ours. dragoman has four special ids, Marian three: what the
/// decoder is fed first (the pad id, mostly) gets an id of its own, so there is one id more.
struct MarianVocabulary {
  std::vector<std::string>
      pieces;  ///< [V + 1] the piece list: <pad>, <unk>, <s>, </s>, then the others in Marian's order
  std::vector<int64_t> marian_ids;  ///< [V + 1] Marian's id of each of ours
};

/// Reads vocab.json, {"piece": id, ...}.
/// Throws Error(kBadData) naming file, piece and id: not such an object, an id that is missing, twice or not in [0,
/// size), special pieces elsewhere than config.json says: "vocab.json: id 0 is 'the', config.json calls it </s>".
/// @param size  vocab_size of config.json, or decoder_vocab_size
MarianVocabulary marian_vocabulary_from_json(std::string_view text, const std::string& file_name, int64_t size,
                                             const MarianConfig& config);

/// `spm` with the piece list of `vocabulary`. A piece that the list lacks is read as unk, as Marian does; `notes` then
/// gets a line.
/// Throws Error(kBadData): not a sub-word model that data::Vocabulary reads, or one of another model: "source.spm: 300
/// of its 320 pieces are not in vocab.json; the files are of different models".
std::string with_marian_ids(std::string_view spm, const std::string& file_name, const MarianVocabulary& vocabulary,
                            std::vector<std::string>& notes);

}  // namespace dragoman::interop
