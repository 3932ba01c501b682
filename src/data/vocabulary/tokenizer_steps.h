#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/vocabulary/tokenizer_spec.h"

namespace dragoman::data {

/// The parts of a tokenizer.json that change and cut text. Each function reads one key of `root`, the whole file. A
/// part that is null does nothing. Parts in a Sequence count as parts one after another.
/// @param name  the file, for errors
/// Throws: Error(kBadData) for a part, a field or a value that is not known, "tokenizer.json: pre_tokenizer.type is
/// "Whitespace"; known are ByteLevel, Digits, Metaspace, Sequence, Split".

/// Reads "normalizer": BertNormalizer, NFC, NFD, NFKC, NFKD, Prepend, Replace of a string.
std::vector<NormalizerStep> read_normalizer(const nlohmann::json& root, const std::string& name);

/// Reads "pre_tokenizer": BertPreTokenizer, ByteLevel (which ends the list), Digits, Metaspace, Split at a known
/// expression.
/// @param is_byte_level  becomes true if there is a ByteLevel
std::vector<SplitStep> read_pre_tokenizer(const nlohmann::json& root, const std::string& name, bool& is_byte_level);

/// Reads "decoder": ByteLevel, ByteFallback, Fuse, Metaspace, Replace of a mark by a space, Strip of one space before
/// the text, WordPiece. Throws: as above, and if it is null, because pieces are then joined with spaces.
PieceSpelling read_decoder(const nlohmann::json& root, const std::string& name);

/// Reads "post_processor": ByteLevel, which changes no ids; BertProcessing, RobertaProcessing and TemplateProcessing,
/// which put at most one token before a text and one behind it.
TextFrame read_post_processor(const nlohmann::json& root, const std::string& name);

}  // namespace dragoman::data
