#pragma once

#include <filesystem>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// Reads a tokenizer that a user has: a tokenizer.json, a SentencePiece model, or vocab.txt of BERT (by its ending).
/// A SentencePiece model with other ids for pad, unk, bos and eos, or without one of them, gets a piece list: our four
/// special pieces, then its own in their order. Its control pieces and its unused ones are left out.
/// Throws: Error(kBadData) as Vocabulary::from_file and from_vocab_txt.
Vocabulary read_tokenizer_file(const std::filesystem::path& file);

}  // namespace dragoman::data
