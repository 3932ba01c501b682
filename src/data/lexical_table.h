#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/fields.h"
#include "data/batch.h"

namespace dragoman::data {

/// Sentence pairs by index. Threads: several threads call `pair` at once. Requires: equal indices give equal pairs.
struct NumberedPairs {
  uint64_t size = 0;
  std::function<SentencePair(uint64_t index)> pair;
};

/// Options for learning a LexicalTable.
struct LexicalOptions {
  int iterations = 5;
  double diagonal = 4.0;           ///< lambda; 0 makes all places equally likely (IBM model 1)
  double null_probability = 0.08;  ///< p0: a target piece comes from no source piece; above 0, below 1
  int workers = 1;
  /// Learning needs 24 bytes an entry. A text with more entries is sampled evenly: every second pair, every fourth
  /// pair, and so on.
  uint64_t max_entries = uint64_t{1} << 26;

  /// Throws: Error(kUsage) with field, value and range, "iterations is 0, must be 1 to 100".
  void check() const;
  static constexpr const char* kTitle = "Alignment";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void LexicalOptions::fields(Visit&& visit) {
  using base::Field;
  using O = LexicalOptions;
  visit(Field("iterations", &O::iterations, "Rounds of the aligner", {1, 100}));
  visit(Field("diagonal", &O::diagonal,
              "How strongly the aligner holds words in like places together; 0 = not at all, for languages of another "
              "order of words",
              {0, 100}));
  visit(Field("workers", &O::workers, "Threads", {1, 1024}).course().without_flag());
  visit(Field("max_entries", &O::max_entries, "Entries of the table", {1, 2147483647}).without_flag());
}

/// A sparse table of p(target piece | source piece) for the pieces that occur together in at least one pair.
class LexicalTable {
 public:
  /// The translations of one source piece.
  struct Row {
    std::span<const int32_t> targets;      ///< in increasing order
    std::span<const float> probabilities;  ///< of each target; the sum is 1, or 0 for a piece without counts
  };
  /// Requires: row s consists of the entries starts[s] to starts[s + 1] - 1.
  LexicalTable(std::vector<uint64_t> starts, std::vector<int32_t> targets);

  int32_t sources() const { return static_cast<int32_t>(starts_.size()) - 1; }
  uint64_t size() const { return targets_.size(); }
  Row row(int32_t source) const;
  /// Returns the index of the entry of two pieces. Requires: the pieces occur together.
  uint64_t index(int32_t source, int32_t target) const;
  float probability(uint64_t index) const { return probabilities_[index]; }
  /// Sets row `source` to its counts divided by their sum. @param counts  of all entries of the table
  void normalise(int32_t source, std::span<const uint64_t> counts);

 private:
  std::vector<uint64_t> starts_;
  std::vector<int32_t> targets_;
  std::vector<float> probabilities_;
};

/// The statistics of the pieces of a text.
struct LexicalModel {
  LexicalTable table;
  std::vector<uint64_t> target_counts;  ///< occurrences of each target piece in the pairs used
  uint64_t pairs_used = 0;
};

/// Learns p(t | s) by expectation maximisation. The model of a pair with source pieces s_1 .. s_m, without eos, and
/// target pieces t_1 .. t_n is
///   p(t_j) = p0 p(t_j | null) + (1 - p0) sum_i a(i | j) p(t_j | s_i),   a(i | j) ~ exp(-lambda |i / m - j / n|)
/// Row kBosId of the table belongs to null. Expected counts are summed as integers in units of 2^-32. So the result
/// does not depend on the number of workers and the order of the pairs.
/// @param source_pieces, target_pieces  sizes of the vocabularies
/// Throws: Error(kUsage) for options out of range, and for vocabularies whose table of pairs needs more than 4 GiB.
/// Source: lambda = 0 is IBM model 1, Brown et al. 1993, section 4.1; lambda > 0 is the reparameterised model 2 of Dyer
/// et al. 2013, section 2, with a fixed lambda.
[[nodiscard]] LexicalModel learn_lexical_table(const NumberedPairs& pairs, int32_t source_pieces, int32_t target_pieces,
                                               const LexicalOptions& options);

}  // namespace dragoman::data
