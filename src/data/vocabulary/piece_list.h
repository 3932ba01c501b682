#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::data {

/// The pieces that a model's ids stand for, in the order of the ids, where that is not the order of the SentencePiece
/// model: models made by other programs cut text with one list of pieces and number another. The list is one more field
/// at the end of the .spm file, so that a vocabulary stays one file; SentencePiece passes over fields it does not know
/// and cuts text as it did without. The first four are <pad>, <unk>, <s>, </s>.
/// Text to ids: SentencePiece cuts the text, each piece is looked up in the list, and what is not there is unk. Ids to
/// text: SentencePiece joins the pieces of the list.

/// `spm` with `pieces` as its list. Throws Error(kBadData) as read_piece_list does, or when it has one already.
std::string with_piece_list(std::string_view spm, const std::vector<std::string>& pieces, std::string_view name);

/// `spm` as it was before with_piece_list, byte for byte; the same bytes when there is no list.
std::string without_piece_list(std::string_view spm, std::string_view name);

/// The list; empty when there is none. `spm` has passed check_sentencepiece_model.
/// Throws Error(kBadData) naming the file: a list that is not at the end of the file, that does not begin with the four
/// special pieces, a piece twice, empty, longer than 4,096 bytes or not UTF-8: "source.spm: piece list: piece 7 is
/// 'the', as is piece 5; ...".
std::vector<std::string> read_piece_list(std::string_view spm, std::string_view name);

}  // namespace dragoman::data
