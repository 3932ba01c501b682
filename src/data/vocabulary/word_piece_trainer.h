#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data/vocabulary/bert_text.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// How a WordPiece vocabulary is learned.
struct WordPieceOptions {
  int32_t size = 8000;              ///< of all pieces, the five special ones included
  double character_coverage = 1.0;  ///< the rest becomes [UNK]
  BertCleaning cleaning = {};
};

/// Learns a vocabulary for WordPiece, which cuts words greedily: the special pieces of BERT, each character as the
/// beginning of a word and as its continuation ("##a"), and the most frequent sequences of characters, which byte-pair
/// encoding finds. A small text gives fewer pieces than `size`. Equal texts and options give equal bytes.
/// Throws: Error(kUsage) for a size below the number of characters; Error(kBadData) if the texts hold no word.
/// Source: Schuster and Nakajima 2012, "Japanese and Korean Voice Search"; the merges are those of Sennrich et al.
/// 2016.
Vocabulary train_word_piece(std::span<const std::string_view> texts, const WordPieceOptions& options);

}  // namespace dragoman::data
