#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary/subword_sampler.h"
#include "data/vocabulary/word_model.h"

namespace dragoman::data {

/// WordPiece: a word is cut from its left into the longest pieces there are. A piece behind the first has the prefix
/// "##" in the vocabulary. A word that cannot be cut to its end, or is too long, is one `unk`.
///
///     encode("unaffable") = un ##aff ##able
///
/// Source: Devlin et al. 2019, "BERT", section 3; Song et al. 2021, "Fast WordPiece Tokenization", section 3.
class WordPieceModel : public WordModel {
 public:
  struct Options {
    int32_t unk = -1;
    std::string prefix = "##";    ///< of the pieces that go on with a word
    size_t max_characters = 100;  ///< longer words are unknown
  };

  /// @param pieces  [pieces] by id
  /// Requires: options.unk is an id.
  WordPieceModel(const std::vector<std::string>& pieces, const Options& options);

  /// Complexity: the length of the word times the length of its longest piece.
  void encode(std::string_view word, std::vector<int32_t>& ids) const override;

  /// Returns npos: unk stands for every word.
  [[nodiscard]] size_t first_lost(std::string_view /*word*/) const override { return std::string_view::npos; }

 private:
  // The ids of the first and of the other pieces of a word.
  struct Pieces {
    std::vector<int32_t> ids;
    PieceTrie trie;
  };
  static Pieces pieces_behind(const std::vector<std::string>& pieces, std::string_view prefix);

  Options options_;
  Pieces first_;
  Pieces other_;
};

}  // namespace dragoman::data
