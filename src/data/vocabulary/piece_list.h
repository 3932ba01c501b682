#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::data {

// A piece list holds the pieces of a model in the order of its ids. Models of other programs need the list, because
// they segment text with one list of pieces and number the pieces of another. The list is an additional field at the
// end of the .spm file, so a vocabulary is one file. SentencePiece ignores unknown fields and segments text as without
// the list. The first four pieces are <pad>, <unk>, <s>, </s>. Text to ids: SentencePiece segments the text, and each
// piece is looked up in the list; a missing piece is unk. Ids to text: SentencePiece joins the pieces of the list.

/// The first pieces of each list, in the order of their ids.
inline constexpr std::array<std::string_view, 4> kSpecialPieces = {"<pad>", "<unk>", "<s>", "</s>"};

/// Returns the model `spm` with `pieces` as its list. Throws: Error(kBadData) as read_piece_list, or if `spm` already
/// has a list.
std::string with_piece_list(std::string_view spm, const std::vector<std::string>& pieces, std::string_view name);

/// Returns the model `spm` without its list, byte for byte as before with_piece_list. A model without a list is
/// returned unchanged.
std::string without_piece_list(std::string_view spm, std::string_view name);

/// Returns the list of `spm`; empty if `spm` has no list. Requires: `spm` has passed check_sentencepiece_model.
/// Throws: Error(kBadData) if the list is not at the end of the file or does not begin with the four special pieces;
/// also if a piece occurs twice, is empty, is longer than 4,096 bytes or is not UTF-8, "source.spm: piece list: piece 7
/// is 'the', as is piece 5; ...".
std::vector<std::string> read_piece_list(std::string_view spm, std::string_view name);

/// How the spelling of each sentinel of a list begins (sentinels.h).
inline constexpr std::string_view kSentinelBegin = "<extra_id_";
/// Returns the spelling of a sentinel: "<extra_id_0>".
[[nodiscard]] std::string sentinel_piece(int64_t number);

/// Returns the piece of a list that stands for a language: ">>fra_Latn<<". A text may begin with it.
/// @param code  as the model calls the language
[[nodiscard]] std::string language_piece(std::string_view code);
/// Returns the code of such a piece, the inverse. Requires: is_language_piece(piece).
[[nodiscard]] std::string code_of_language_piece(std::string_view piece);
/// Returns whether a piece is that of a language. No other piece has this form.
[[nodiscard]] bool is_language_piece(std::string_view piece);

}  // namespace dragoman::data
