#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::decoding {

/// How much each live hypothesis has looked at each source piece, for the coverage penalty of Wu et al. 2016, eq. 14:
///   cp = beta * sum_i log(min(sum_j p[i][j], 1))
/// p[i][j] is the cross-attention (mean over the heads of the last decoder layer) of generated token j to source piece
/// i; the sentence end of the source is no piece. It is <= 0 and is added to the normalised score of a finished
/// hypothesis. A piece never looked at counts as 1e-10.
class CoverageTable {
 public:
  /// @param source_length  S, the end included; 0 keeps nothing and every penalty is 0
  CoverageTable(double beta, int64_t source_length);

  bool empty() const { return pieces_ == 0; }
  /// Adds weights, at least S each, to the rows of hypotheses 0 .. count - 1.
  void add(size_t count, const float* weights, int64_t stride);
  /// The rows of the next step are copies: call `inherit` for each new hypothesis, then `turn`.
  void inherit(size_t parent);
  void turn();
  /// cp of hypothesis `row`.
  double penalty(size_t row) const;

 private:
  double beta_;
  size_t pieces_ = 0;         // S - 1
  std::vector<double> rows_;  // [live, S - 1]
  std::vector<double> next_rows_;
};

}  // namespace dragoman::decoding
