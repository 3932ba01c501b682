#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/vocabulary/bpe_model.h"
#include "data/vocabulary/bpe_split.h"
#include "data/vocabulary/special_ids.h"

namespace dragoman::data {

/// One change of the text before it is cut.
struct NormalizerStep {
  enum class Kind { kNfc, kNfd, kNfkc, kNfkd, kPrepend, kReplace };

  Kind kind = Kind::kNfc;
  std::string pattern = {};  ///< kReplace: what is replaced
  std::string content = {};  ///< kReplace and kPrepend: what is written
};

/// One cut of the text. Each step cuts every part that the steps before it left.
struct SplitStep {
  enum class Kind {
    kPrefixSpace,  ///< puts a space before a part that does not begin with one
    kPattern,      ///< cuts into the words of `pattern`
    kDigits,       ///< cuts numbers from all else
    kMetaspace,    ///< writes spaces as `mark`
    kMarkRuns,     ///< cuts before each `mark` that does not follow a `mark`
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
};

/// What a tokenizer.json file says.
struct TokenizerSpec {
  std::vector<std::string> pieces;  ///< [size] by id: the pieces of the model, then the added tokens that are none
  size_t model_pieces = 0;
  std::vector<BpeMerge> merges;
  BpeModel::Options model = {};
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<SplitStep> splits;
  PieceSpelling spelling;
  int32_t first = -1;                 ///< the id that the file puts before each text; -1 for none
  std::optional<SpecialIds> special;  ///< if the file names them itself
};

}  // namespace dragoman::data
