#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/vocabulary/bert_text.h"
#include "data/vocabulary/bpe_model.h"
#include "data/vocabulary/bpe_split.h"
#include "data/vocabulary/special_ids.h"
#include "data/vocabulary/word_piece_model.h"

namespace dragoman::data {

/// One change of the text before it is cut.
struct NormalizerStep {
  enum class Kind { kNfc, kNfd, kNfkc, kNfkd, kPrepend, kReplace, kBert };

  Kind kind = Kind::kNfc;
  std::string pattern = {};  ///< kReplace: what is replaced
  std::string content = {};  ///< kReplace and kPrepend: what is written
  BertCleaning bert = {};    ///< kBert
};

/// One cut of the text. Each step cuts every part that the steps before it left.
struct SplitStep {
  enum class Kind {
    kPrefixSpace,  ///< puts a space before a part that does not begin with one
    kPattern,      ///< cuts into the words of `pattern`
    kDigits,       ///< cuts numbers from all else
    kMetaspace,    ///< writes spaces as `mark`
    kMarkRuns,     ///< cuts before each `mark` that does not follow a `mark`
    kBert,         ///< takes BERT's words, and leaves white space out
  };
  enum class Prefix { kNever, kFirst, kAlways };

  Kind kind = Kind::kPattern;
  BpeSplit pattern = BpeSplit::kGpt2;
  bool individual_digits = false;
  std::string mark = {};            ///< kMetaspace and kMarkRuns
  Prefix prefix = Prefix::kAlways;  ///< kMetaspace: which parts get a mark before them
  bool cuts_at_marks = true;        ///< kMetaspace
};

/// A text that is found before anything is cut, and has its own id.
struct AddedToken {
  int32_t id = 0;
  std::string content = {};
  bool single_word = false;  ///< only where no word character stands beside it
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< takes the white space behind it
  bool normalized = false;   ///< is looked for in the normalised text
  bool special = false;      ///< is no text: decoding leaves it out
};

/// How the text of a piece is read.
struct PieceSpelling {
  bool byte_level = false;          ///< the byte-level alphabet
  std::string mark = {};            ///< stands for a space; may be empty
  bool byte_pieces = false;         ///< <0x0A> is a byte
  bool strips_first_space = false;  ///< the first space of a whole text is left out
  std::string continued = {};  ///< WordPiece: begins the pieces that go on with a word; a space precedes the others
  bool joins_marks = false;    ///< WordPiece: no space precedes . ? ! , and the ends of English contractions
};

/// What a tokenizer.json file says.
struct TokenizerSpec {
  std::vector<std::string> pieces;  ///< [size] by id: the pieces of the model, then the added tokens that are none
  size_t model_pieces = 0;
  std::vector<BpeMerge> merges;
  BpeModel::Options model = {};
  std::optional<WordPieceModel::Options> word_piece;  ///< in place of merges
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<SplitStep> splits;
  PieceSpelling spelling;
  TextFrame frame;
  std::optional<SpecialIds> special;  ///< if the file names them itself
};

}  // namespace dragoman::data
