#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/batch.h"

namespace dragoman::data {

/// Pairs that translate each other, by number. `pair` is called by several threads at once, and for the same number
/// gives the same pair.
struct NumberedPairs {
  uint64_t size = 0;
  std::function<SentencePair(uint64_t index)> pair;
};

/// How a LexicalTable is learned.
struct LexicalOptions {
  int iterations = 5;              ///< of EM, 1 to 100
  double diagonal = 4.0;           ///< lambda below, 0 to 100; 0: every place is as likely (IBM model 1)
  double null_probability = 0.08;  ///< that a target piece comes from no source piece, above 0, below 1
  int workers = 1;                 ///< threads, 1 to 1024; never changes the result
  /// Entries of the table at most, 24 bytes each while it is learned. A text that needs more is thinned out evenly:
  /// every second pair, every fourth and so on. 1 to 2^31 - 1.
  uint64_t max_entries = uint64_t{1} << 26;

  /// Throws Error(kUsage) naming field, value and range: "iterations is 0, must be 1 to 100".
  void check() const;
};

/// p(target piece | source piece) for the pieces that stand together in some pair.
class LexicalTable {
 public:
  /// What one source piece becomes.
  struct Row {
    std::span<const int32_t> targets;      ///< rising
    std::span<const float> probabilities;  ///< of each; their sum is 1, or 0 for a piece that nothing came from
  };
  /// Row s has the entries starts[s] to starts[s + 1] - 1.
  LexicalTable(std::vector<uint64_t> starts, std::vector<int32_t> targets);

  int32_t sources() const { return static_cast<int32_t>(starts_.size()) - 1; }
  uint64_t size() const { return targets_.size(); }
  Row row(int32_t source) const;
  /// The entry of a pair of pieces that stand together.
  uint64_t index(int32_t source, int32_t target) const;
  float probability(uint64_t index) const { return probabilities_[index]; }
  /// Sets row `source` to counts / their sum. @param counts  of all entries
  void normalise(int32_t source, std::span<const uint64_t> counts);

 private:
  std::vector<uint64_t> starts_;
  std::vector<int32_t> targets_;
  std::vector<float> probabilities_;
};

/// What a text says about its pieces.
struct LexicalModel {
  LexicalTable table;
  std::vector<uint64_t> target_counts;  ///< how often each target piece stands in the pairs used
  uint64_t pairs_used = 0;
};

/// Learns p(t | s) by expectation maximisation. A pair with source pieces s_1 .. s_m (its end left out) and target
/// pieces t_1 .. t_n is taken to be made so:
///   p(t_j) = p0 p(t_j | null) + (1 - p0) sum_i a(i | j) p(t_j | s_i),   a(i | j) ~ exp(-lambda |i / m - j / n|)
/// with lambda = 0 IBM model 1 (Brown et al. 1993, section 4.1), above it the reparameterised model 2 of Dyer et al.
/// 2013 (section 2) with lambda fixed. Begin of sentence stands for null, and row kBosId is its.
/// Expected counts are summed in units of 2^-32, as integers, so that the result depends neither on the number of
/// workers nor on the order in which they come to the pairs.
/// @param source_pieces, target_pieces  sizes of the vocabularies
/// Throws Error(kUsage) for options out of range and vocabularies whose table of pairs would need more than 4 GiB.
LexicalModel learn_lexical_table(const NumberedPairs& pairs, int32_t source_pieces, int32_t target_pieces,
                                 const LexicalOptions& options);

}  // namespace dragoman::data
