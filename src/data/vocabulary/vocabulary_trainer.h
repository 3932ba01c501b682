#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// Options for learning a sub-word vocabulary.
struct VocabularyOptions {
  enum class Type { kUnigram, kBpe };

  Type type = Type::kUnigram;  ///< unigram language model (Kudo 2018) or byte-pair encoding (Sennrich 2016)
  int32_t size = 10000;        ///< number of pieces with the four special ones, 5 to 1,000,000

  /// Share of the characters of the training text that are covered by pieces, 0.98 to 1. 1 suits alphabets; 0.9995
  /// suits Chinese and noisy text. Other characters become unk or bytes.
  double character_coverage = 1.0;

  /// Unknown characters become their UTF-8 bytes, for which there are 256 more pieces, instead of unk.
  bool byte_fallback = false;

  /// Normalisation of the text before its segmentation. "nmt_nfkc" is Unicode NFKC with control characters as spaces,
  /// and "nfkc" is NFKC alone. "nmt_nfkc_cf" and "nfkc_cf" also convert to lower case. "identity" keeps the text, with
  /// full-width punctuation.
  std::string normalization = "nmt_nfkc";

  /// Largest number of lines to learn from, sampled uniformly from all files with `seed`. 0 takes all lines.
  uint64_t max_lines = 2'000'000;
  uint64_t seed = 1;
};

/// A learned vocabulary and notes about it.
struct TrainedVocabulary {
  Vocabulary vocabulary;
  uint64_t lines_used = 0;
  std::string note;  ///< empty, or the difference from the options: "vocabulary: 10000 pieces were asked for, ..."
};

/// Learns one vocabulary from all lines of `files`, which hold both languages for a joint vocabulary. Equal files and
/// options give equal bytes. Blank lines and lines above 16 KiB are ignored. If the text is too small for `size`, the
/// result is the largest possible vocabulary, and `note` says so. Disables the log of SentencePiece for the whole
/// process. Throws: Error(kUsage) for an option out of range or a size below the number of characters; Error(kBadData)
/// if a file cannot be read or there is no text.
TrainedVocabulary train_vocabulary(const std::vector<std::filesystem::path>& files, const VocabularyOptions& options);

}  // namespace dragoman::data
