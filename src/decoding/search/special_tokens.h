#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::decoding {

/// The tokens that mean something to a search. By default those of a translation. -1 stands for none.
struct SpecialTokens {
  int32_t begin = data::kBosId;  ///< what the first step feeds: begin of sentence, or the last token of a prompt
  std::array<int32_t, 4> ends = {data::kEosId, -1, -1, -1};     ///< each ends the text
  std::array<int32_t, 2> never = {data::kPadId, data::kBosId};  ///< may not be generated
  int32_t unknown = data::kUnkId;                               ///< may be generated where a search allows it

  bool ends_text(int32_t id) const { return std::ranges::find(ends, id) != ends.end(); }
  bool forbids(int32_t id, bool allow_end, bool allow_unk) const {
    return std::ranges::find(never, id) != never.end() || (id == unknown && !allow_unk) ||
           (!allow_end && ends_text(id));
  }
  /// Returns: the most tokens that can be forbidden at a time.
  static constexpr int most_forbidden() { return 7; }
  /// Whether the tokens that may be forbidden are the first of the vocabulary, as in translation.
  bool are_first() const { return ends[0] == data::kEosId && ends[1] < 0; }
};

}  // namespace dragoman::decoding
