#pragma once

#include <cstdint>
#include <vector>

namespace dragoman::data {

/// The ids of the special pieces, which are equal in all SentencePiece vocabularies.
constexpr int32_t kPadId = 0;
constexpr int32_t kUnkId = 1;
constexpr int32_t kBosId = 2;
constexpr int32_t kEosId = 3;

/// The ids of the special pieces of one vocabulary. -1 and an empty list stand for none.
struct SpecialIds {
  int32_t pad = -1;
  int32_t unk = -1;
  int32_t bos = -1;
  std::vector<int32_t> eos = {};  ///< every id that ends a text; the first is the one that is written

  bool operator==(const SpecialIds&) const = default;
};

/// The ids around the texts that a model reads; -1 for none.
///
///     one text     first text last
///     two texts    first text last ... last text last     with `separators` times `last` between the texts
struct TextFrame {
  int32_t first = -1;
  int32_t last = -1;
  int32_t separators = 1;

  bool operator==(const TextFrame&) const = default;
};

}  // namespace dragoman::data
