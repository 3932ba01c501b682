#include "data/vocabulary/word_piece_model.h"

#include <utility>

#include "base/utf8.h"

namespace dragoman::data {
WordPieceModel::Pieces WordPieceModel::pieces_behind(const std::vector<std::string>& pieces, std::string_view prefix) {
  std::vector<int32_t> ids;
  std::vector<ScoredPiece> texts;
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id].size() > prefix.size() && pieces[id].starts_with(prefix)) {
      ids.push_back(static_cast<int32_t>(id));
      texts.push_back({.text = pieces[id].substr(prefix.size())});
    }
  }
  return {std::move(ids), PieceTrie(texts)};
}

WordPieceModel::WordPieceModel(const std::vector<std::string>& pieces, const Options& options)
    : options_(options), first_(pieces_behind(pieces, "")), other_(pieces_behind(pieces, options.prefix)) {}

void WordPieceModel::encode(std::string_view word, std::vector<int32_t>& ids) const {
  const size_t before = ids.size();
  bool is_whole = base::count_characters(word) <= options_.max_characters;
  for (size_t at = 0; is_whole && at < word.size();) {
    const Pieces& pieces = at == 0 ? first_ : other_;
    size_t longest = 0;
    size_t index = 0;
    pieces.trie.for_each_prefix(word.substr(at), [&](size_t length, size_t piece) {
      longest = length;
      index = piece;
    });
    is_whole = longest > 0;
    if (is_whole) {
      ids.push_back(pieces.ids[index]);
      at += longest;
    }
  }
  if (!is_whole) {
    ids.resize(before);
    ids.push_back(options_.unk);
  }
}

}  // namespace dragoman::data
