#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace dragoman::data {

/// A piece of the sub-word model and its score.
struct ScoredPiece {
  std::string text;
  float score = 0;  ///< log probability (unigram) or minus the rank of the merge (BPE)
  int32_t id = 0;
};

/// A trie that finds the pieces at a position of a text. The edges are in one hash table.
/// Threads: any number; the object is immutable after construction.
class PieceTrie {
 public:
  explicit PieceTrie(const std::vector<ScoredPiece>& pieces);

  /// Calls found(length in bytes, index of the piece) for each piece that is a prefix of `text`, shortest first.
  template <typename Found>
  void for_each_prefix(std::string_view text, Found&& found) const {
    uint32_t node = 0;
    for (size_t length = 1; length <= text.size(); ++length) {
      node = child(node, static_cast<uint8_t>(text[length - 1]));
      if (node == 0) {
        return;
      }
      if (piece_at_[node] >= 0) {
        found(length, static_cast<size_t>(piece_at_[node]));
      }
    }
  }

  /// Returns the index of the piece that equals `text`, or -1.
  [[nodiscard]] int32_t find(std::string_view text) const;

 private:
  struct Edge {
    uint64_t key = 0;  // node << 8 | byte, plus 1 so that 0 means free
    uint32_t child = 0;
  };

  uint32_t child(uint32_t node, uint8_t byte) const;
  uint32_t child_or_new(uint32_t node, uint8_t byte);
  size_t slot_of(uint64_t key) const;

  std::vector<Edge> edges_;  // open addressing; the size is a power of two
  uint64_t mask_ = 0;
  std::vector<int32_t> piece_at_;  // [nodes], -1 where no piece ends
};

/// A sampler of segmentations of a text into pieces, for sub-word regularisation. The sampler of SentencePiece hides
/// its random state in each thread. Here all randomness comes from the caller, so a draw can be repeated. Threads: any
/// number; the object is immutable.
class SubwordSampler {
 public:
  enum class Model { kUnigram, kBpe };

  /// @param pieces  the normal pieces, without control, unknown and byte pieces
  /// @param unk_id  the id of uncovered characters
  SubwordSampler(Model model, std::vector<ScoredPiece> pieces, int32_t unk_id);

  /// A part of the text and the id of its piece.
  struct Segment {
    std::string_view text;
    int32_t id;
  };

  /// Returns a random segmentation of `normalized`, in which spaces are U+2581. An uncovered character is one segment
  /// with unk_id. Unigram: P(segmentation) ~ exp(alpha * sum of scores), drawn exactly by forward filtering and
  /// backward sampling. alpha near 0 is uniform, and a large alpha gives the best segmentation. BPE: each merge is
  /// skipped with probability alpha and then not tried again, as in SentencePiece. alpha 0 gives the ordinary
  /// segmentation. Source: Kudo 2018, "Subword Regularization", section 3.3, l = infinity; Provilkov et al. 2020,
  /// "BPE-Dropout", algorithm 1.
  [[nodiscard]] std::vector<Segment> sample(std::string_view normalized, double alpha, base::Random& random) const;

 private:
  std::vector<Segment> sample_lattice(std::string_view text, double alpha, base::Random& random) const;
  std::vector<Segment> sample_merges(std::string_view text, double dropout, base::Random& random) const;

  Model model_;
  std::vector<ScoredPiece> pieces_;
  PieceTrie trie_;
  int32_t unk_id_;
  double unk_score_;
};

}  // namespace dragoman::data
