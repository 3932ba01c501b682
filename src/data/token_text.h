#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// Documents as ids, one after the other. Where the vocabulary has a token that ends a text, it stands after each
/// document. Before each document stands bos, where the vocabulary puts it before each text. Otherwise the token that
/// ends a text also stands before the first document. Memory: 4 bytes a token.
struct TokenText {
  std::vector<int32_t> ids;
  std::vector<uint64_t> starts{0};  ///< [documents + 1]; document d is ids[starts[d]] .. ids[starts[d + 1]], its bos
                                    ///< and its end included
  uint64_t bytes = 0;               ///< of the text in UTF-8
  bool has_bos = false;             ///< each document begins with bos

  uint64_t size() const { return ids.size(); }
};

/// Encodes documents. Long ones are cut into blocks at lines, where no tokenizer joins two lines. Blocks are encoded by
/// `threads` threads; the result is the same for any number.
/// Throws: Error(kBadData) for a character that the vocabulary lacks, where it has no piece that stands for all of
/// them.
TokenText encode_documents(const std::vector<std::string>& documents, const Vocabulary& vocabulary, int threads);

}  // namespace dragoman::data
