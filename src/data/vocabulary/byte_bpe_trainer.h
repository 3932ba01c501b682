#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "data/vocabulary/bpe_split.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// How a byte-level BPE is learned.
struct ByteBpeOptions {
  int32_t size = 8192;               ///< of all pieces: 256 bytes, the merges and <|endoftext|>
  BpeSplit split = BpeSplit::kGpt2;  ///< not kNone, with which the text would be one word
  bool with_end_of_text = true;      ///< <|endoftext|>, which gets the last id
  int threads = 1;                   ///< do not change the result
};

/// Learns a byte-level BPE. Each step merges the pair of neighbouring pieces that occurs most often in the words of the
/// texts. Of pairs that occur equally often, the one with the smaller left piece goes first, then the one with the
/// smaller right piece; pieces are compared as strings of bytes. Pairs that occur once are not merged, so a small
/// text gives fewer pieces than `size`. The ids are the 256 bytes in the order of the byte-level alphabet, the merges
/// in the order in which they were found, and <|endoftext|>. Equal texts and options give equal bytes. Throws:
/// Error(kUsage) for a size below 256, or 257 with <|endoftext|>, or above 1,000,000, and for kNone; Error(kBadData) if
/// all texts are empty. Complexity: time nearly linear in the text, then in the number of different words. Source:
/// Sennrich et al. 2016, algorithm 1; Radford et al. 2019, section 2.2.
Vocabulary train_byte_bpe(std::span<const std::string_view> texts, const ByteBpeOptions& options);

/// Learns from the whole texts of `files`. Throws: also as base::read_text_file.
Vocabulary train_byte_bpe(const std::vector<std::filesystem::path>& files, const ByteBpeOptions& options);

}  // namespace dragoman::data
