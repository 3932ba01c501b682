#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/search/sentence_request.h"

namespace dragoman::decoding {

/// Sizes of the vocabularies of both sides.
struct PieceCounts {
  int32_t source = 0;
  int32_t target = 0;
};

/// A lexical shortlist: which target pieces a translation may hold, told by the pieces of its source (as in Marian,
/// Junczys-Dowmunt et al. 2018). Immutable; safe for use by any number of threads.
class Shortlist {
 public:
  /// @param frequent  target pieces for every sentence, rising
  /// @param lists     one a source piece: its target pieces, rising
  /// Throws Error(kRuntime) where ids do not rise or are no target pieces.
  Shortlist(int32_t target_pieces, std::vector<int32_t> frequent, const std::vector<std::vector<int32_t>>& lists);

  /// The pieces that the translation of a sentence may hold, rising: the special pieces, the frequent ones, those on
  /// the lists of its source pieces, and those of the prefix and the phrases that it demands.
  /// @param source  ids with the end, of the source vocabulary
  std::vector<int32_t> allowed(std::span<const int32_t> source, const SentenceRequest& request) const;

  PieceCounts pieces() const { return {static_cast<int32_t>(starts_.size()) - 1, target_pieces_}; }
  std::span<const int32_t> frequent() const { return frequent_; }
  /// Whether every translation may hold a target piece. A list is for the target languages whose codes it has here.
  bool allows_always(int32_t target) const;
  std::span<const int32_t> list(int32_t source) const;

  /// The bytes of shortlist.safetensors (docs/checkpoint_format.md), and back.
  /// The reader throws Error(kBadData) for damage and for another model's list: "shortlist.safetensors: is for 4,000
  /// source and 4,000 target pieces, the model has 8,000 and 8,000; make it again with dragoman shortlist".
  std::string to_bytes() const;
  static Shortlist from_bytes(std::string_view bytes, const std::string& file_name, PieceCounts model);

 private:
  Shortlist(int32_t target_pieces, std::vector<int32_t> frequent, std::vector<int32_t> starts,
            std::vector<int32_t> targets);

  int32_t target_pieces_;
  std::vector<int32_t> frequent_;
  std::vector<int32_t> starts_;   // [source pieces + 1]
  std::vector<int32_t> targets_;  // list s is starts_[s] to starts_[s + 1] - 1
};

}  // namespace dragoman::decoding
