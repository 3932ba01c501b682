#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// How a sub-word vocabulary is learned.
struct VocabularyOptions {
  enum class Type { kUnigram, kBpe };

  Type type = Type::kUnigram;  ///< unigram language model (Kudo 2018) or byte-pair encoding (Sennrich 2016)
  int32_t size = 10000;        ///< pieces, the four special ones included; 5 to 1,000,000

  /// Share of the characters of the training text that get a piece; 0.98 to 1. 1 for alphabets; 0.9995 for Chinese or
  /// noisy text, where the rest becomes unk (or bytes).
  double character_coverage = 1.0;

  /// Unknown characters become their UTF-8 bytes (256 more pieces) instead of unk.
  bool byte_fallback = false;

  /// Normalisation of text before it is cut: "nmt_nfkc" (Unicode NFKC and control characters to spaces), "nfkc",
  /// "nmt_nfkc_cf" and "nfkc_cf" (the same, lower-casing), or "identity" (keeps full-width punctuation).
  std::string normalization = "nmt_nfkc";

  /// At most so many lines are learned from, chosen evenly over all files by `seed`; 0 = all.
  uint64_t max_lines = 2'000'000;
  uint64_t seed = 1;
};

/// A vocabulary and how it came out.
struct TrainedVocabulary {
  Vocabulary vocabulary;
  uint64_t lines_used = 0;
  std::string note;  ///< empty, or what differs from what was asked: "vocabulary: 10000 pieces were asked for, ..."
};

/// Learns one vocabulary from all lines of `files` (both languages for a joint one). The same files and options give
/// the same bytes. Blank lines and lines of more than 16 KiB are left out. When the text is too small for `size`, the
/// largest possible vocabulary is made and `note` says so. Throws Error(kUsage): an option out of range, or a size
/// below the number of characters; Error(kBadData): a file cannot be read, or no text in it. Silences SentencePiece's
/// own log for the whole process.
TrainedVocabulary train_vocabulary(const std::vector<std::filesystem::path>& files, const VocabularyOptions& options);

}  // namespace dragoman::data
