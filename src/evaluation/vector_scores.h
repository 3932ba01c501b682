#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluation/metric.h"

namespace dragoman::evaluation {

/// The vectors of some texts.
struct VectorRows {
  std::vector<float> values;  ///< [B, D]
  size_t width = 0;           ///< D

  size_t size() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const float> row(size_t text) const { return std::span(values).subspan(text * width, width); }
};

/// Returns: the cosine of two vectors of the same width, in float64; 0 if one of them has zeros only.
double cosine_of(std::span<const float> left, std::span<const float> right);

/// Where the right text of a left one stands among all right texts, by falling cosine.
struct RightRank {
  double before = 0.0;  ///< texts that are nearer
  double ties = 0.0;    ///< other texts that are as near; half of them count as nearer

  /// Returns: 1 / rank, with the mean of the ranks that the ties leave.
  double reciprocal() const { return 1.0 / (1.0 + before + ties / 2.0); }
  /// Returns: the probability that the right text is the nearest one if ties are drawn.
  double is_first() const { return before > 0.0 ? 0.0 : 1.0 / (1.0 + ties); }
};

/// Returns the rank of right text i for left text i, for all i. Cosines are computed in float64. A vector of zeros has
/// the cosine 0 with all. Complexity: B^2 D.
/// Requires: as many rows of the same width on both sides.
std::vector<RightRank> ranks_of_right(const VectorRows& left, const VectorRows& right);

/// Reads a vector from each line, as `dragoman embed` writes them: numbers with tabs between them.
/// Throws: Error(kBadData), "a.tsv: line 3 has 7 numbers, the lines before have 8"; "a.tsv: line 3: \"x\" is no
/// number".
VectorRows vectors_of_lines(Lines lines, const std::string& name);

/// Returns one line with the rank of the right text for each line: what RetrievalMetric counts.
std::vector<std::string> ranks_of_lines(Lines left, Lines right, const std::string& left_name,
                                        const std::string& right_name);

/// Returns one line with a number for each line: the rank of its last column among those of all lines, from 1; equal
/// numbers share the mean of their ranks. What SpearmanMetric counts.
/// Throws: Error(kBadData), "scores.tsv: line 3: \"x\" is no number".
std::vector<std::string> number_ranks_of_lines(Lines lines, const std::string& name);

/// How well texts find their right texts among all of them, 0 to 100: the share whose right text is the nearest, or the
/// mean reciprocal rank. Source: Voorhees 1999, "The TREC-8 question answering track report", section 3.
class RetrievalMetric final : public Metric {
 public:
  explicit RetrievalMetric(bool of_ranks) : of_ranks_(of_ranks) {}

  std::string name() const override { return of_ranks_ ? "MRR" : "recall-at-1"; }
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const double> sums) const override;
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return false; }
  std::string details(std::span<const double> sums) const override;
  Signature signature(size_t n_references, const Resampling& resampling) const override;

 private:
  bool of_ranks_;
};

/// The rank correlation of numbers, times 100: that of Pearson of the ranks. Numbers that are all equal correlate with
/// nothing: 0. Resampling keeps the ranks of the whole text. Source: Spearman 1904; as scipy.stats.spearmanr.
class SpearmanMetric final : public Metric {
 public:
  std::string name() const override { return "Spearman"; }
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const double> sums) const override;
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return false; }
  std::string details(std::span<const double> /*sums*/) const override { return ""; }
  Signature signature(size_t n_references, const Resampling& resampling) const override;
};

}  // namespace dragoman::evaluation
