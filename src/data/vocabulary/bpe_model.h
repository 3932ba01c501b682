#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/vocabulary/word_model.h"

namespace dragoman::data {

/// One merge of byte-pair encoding: the pieces `left` and `right` become the piece `result`.
struct BpeMerge {
  int32_t left = 0;
  int32_t right = 0;
  int32_t result = 0;

  bool operator==(const BpeMerge&) const = default;
};

/// Returns the key of a pair of pieces in tables of pairs.
constexpr uint64_t pair_key(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

/// What a word is made of before any merge.
enum class BpeSymbols {
  kCharacters,  ///< the characters of its UTF-8 text
  kBytes,       ///< its bytes
};

/// The byte-pair encoding of words. The symbols of a word are merged as long as two neighbours have a merge: the merge
/// that stands first in the list goes first, and among equal ones the leftmost.
/// Threads: any number; the object is immutable.
/// Source: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units", section 3.2.
class BpeModel : public WordModel {
 public:
  struct Options {
    BpeSymbols symbols = BpeSymbols::kCharacters;
    int32_t unk = -1;            ///< stands for unknown characters; -1: they are left out
    bool fuse_unk = false;       ///< neighbouring unknown characters are one unk
    bool byte_fallback = false;  ///< unknown characters become their bytes, if the pieces <0x00> to <0xFF> exist
    bool ignore_merges = false;  ///< a word that is a piece is this piece, whatever the merges give
  };

  /// @param spellings  [pieces] the text that each piece stands for; empty for a piece that no text gives
  /// @param merges     first the one that goes first; of two merges of the same pair the later counts
  BpeModel(std::vector<std::string> spellings, const std::vector<BpeMerge>& merges, const Options& options);

  /// Complexity: n log n in the length of the word.
  void encode(std::string_view word, std::vector<int32_t>& ids) const override;

  /// Returns the offset in `word` of the first symbol that has neither piece, unk nor bytes; npos if there is none.
  [[nodiscard]] size_t first_lost(std::string_view word) const override;

  /// Returns true if no merge crosses the border between another character and `mark`, so words may be cut before each
  /// mark that does not follow a mark.
  [[nodiscard]] bool may_cut_before(std::string_view mark) const;

 private:
  struct Slot {
    uint64_t pair = kFree;
    int32_t rank = 0;
    int32_t result = 0;
  };
  static constexpr uint64_t kFree = UINT64_MAX;

  void insert_words();
  void insert_symbols();
  void insert_merges(const std::vector<BpeMerge>& merges);
  void find_whole_words();
  int32_t find_word(std::string_view word) const;
  int32_t find_symbol(std::string_view symbol) const;
  size_t symbol_bytes(std::string_view word, size_t at) const;
  const Slot* find_merge(int32_t left, int32_t right) const;
  size_t merge_slot(uint64_t pair) const;
  void cut(std::string_view word, std::vector<int32_t>& symbols) const;
  bool append_bytes(std::string_view symbol, std::vector<int32_t>& symbols) const;
  void encode_by_merges(std::string_view word, std::vector<int32_t>& ids) const;
  void merge_short(std::vector<int32_t>& symbols) const;
  void merge_long(std::vector<int32_t>& symbols) const;

  std::vector<std::string> spellings_;
  Options options_;
  std::vector<BpeMerge> merges_;
  std::vector<int32_t> words_;           // open addressing over the spellings: id, or -1; the size is a power of two
  std::vector<uint8_t> whole_;           // [pieces] 1 where the encoding of the spelling is this one piece
  std::array<int32_t, 256> byte_ids_{};  // of the symbols that are one byte, -1 for none
  std::array<int32_t, 256> fallback_ids_{};                      // of the pieces <0x00> to <0xFF>, -1 for none
  std::unordered_map<std::string_view, int32_t> character_ids_;  // of the symbols of several bytes
  std::vector<Slot> slots_;                                      // open addressing; the size is a power of two
};

}  // namespace dragoman::data
