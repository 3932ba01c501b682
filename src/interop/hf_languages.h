#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/vocabulary/spm_pieces.h"
#include "interop/piece_order.h"

namespace dragoman::interop {

/// The SentencePiece model of a folder with several languages.
inline constexpr const char* kLanguagesSpmName = "sentencepiece.bpe.model";
/// The ids of special pieces, which are those of fairseq: <s>, <pad>, </s>, <unk>. A decoder begins with </s>.
inline constexpr SpecialPieces kFairseqSpecial{.pad = 1, .unk = 3, .start = 2, .eos = 2};

/// Refuses a vocabulary that does not begin with these pieces. @param pieces  by id;  @param file  for errors
void check_fairseq_pieces(const std::vector<std::string>& pieces, const std::string& file);

/// The pieces of an M2M-100 by id.
inline constexpr const char* kLanguagesPiecesName = "vocab.json";

/// Returns the pieces by id of a folder without vocab.json: those of SentencePiece one later, because <unk>, <s> and
/// </s> give way to four.
[[nodiscard]] std::vector<std::string> fairseq_pieces(const std::vector<data::SpmPiece>& spm);

/// Returns the codes of the languages of a folder in the order of their ids: fr for __fr__, fra_Latn as it is. They are
/// additional_special_tokens of tokenizer_config.json or special_tokens_map.json.
/// Throws: Error(kBadData) if neither file has the list.
[[nodiscard]] std::vector<std::string> read_languages(const std::filesystem::path& folder);

/// Returns the text of tokenizer_config.json with languages, which read_languages reads.
/// @param tokens  of the languages in the order of their ids: __fr__ or fra_Latn
[[nodiscard]] std::string languages_tokenizer_config(const char* tokenizer_class,
                                                     const std::vector<std::string>& tokens, int64_t max_positions);

/// Returns the pieces of a folder by id, for our ids: those of vocab.json or else of SentencePiece, then the languages
/// as data::language_piece spells them, then rows that no piece has. @param spm  the SentencePiece model
/// @param special  ids of the folder
/// Throws: Error(kBadData) for files of different models.
[[nodiscard]] PieceOrder read_pieces_with_languages(const std::filesystem::path& folder, const std::string& spm,
                                                    const std::vector<std::string>& languages, int64_t vocab_size,
                                                    const SpecialPieces& special);

}  // namespace dragoman::interop
