#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/names.h"
#include "evaluation/metric.h"

namespace dragoman::study {

/// Mean and standard deviation over the seeds. One seed has no deviation (NaN); no seed has no mean either.
struct Spread {
  size_t seeds = 0;
  double mean = 0.0;
  double deviation = 0.0;
};
Spread spread_of(std::span<const double> values);

/// What a reader may conclude of a row against the baseline.
enum class Verdict { kBetter, kWorse, kUndecided };

constexpr base::Names<Verdict> names_of(Verdict) {
  return {"verdict", {{Verdict::kBetter, "better"}, {Verdict::kWorse, "worse"}, {Verdict::kUndecided, "undecided"}}};
}

/// Whether the paper's difference points the same way.
enum class Agreement { kAgrees, kOpposite, kUndecided };

constexpr base::Names<Agreement> names_of(Agreement) {
  return {"agreement",
          {{Agreement::kAgrees, "agrees"}, {Agreement::kOpposite, "opposite"}, {Agreement::kUndecided, "undecided"}}};
}

/// The scores of one system, one for each seed. `counts` are those of `metric` for each sentence, and empty for scores
/// that have none, such as a loss.
struct SeedScores {
  std::vector<double> scores;
  std::vector<evaluation::CountTable> counts;
};

/// A row against the baseline.
struct Comparison {
  double difference = 0.0;           ///< of the means, row - baseline
  double standard_error = 0.0;       ///< of the difference, by the spread over seeds; NaN for one seed
  std::optional<double> p_value;     ///< paired bootstrap over the sentences, or of the seeds
  std::optional<double> p_adjusted;  ///< for the number of comparisons (adjust)
  Verdict verdict = Verdict::kUndecided;
};

/// Compares by paired bootstrap over sentences, with the counts of a sentence summed over the seeds, and by the spread
/// over the seeds. The verdict stays open until `adjust`. Requires: one score or more on both sides.
/// Without counts the p-value is of Welch's t-test over the seeds, if both sides have two or more.
/// @param comparisons  how many are made; p can be no smaller than 1 in the number of resamples, so a large number
/// needs more resamples Source: Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation"; Welch
/// 1947, "The Generalization of Student's Problem".
Comparison compare(const evaluation::Metric* metric, const SeedScores& baseline, const SeedScores& row,
                   size_t comparisons = 1);

/// Returns the probability that a difference of means is as many standard errors from 0 or more, by chance:
///   P(|T| >= t) = integral over [atan(t / sqrt(v)), pi/2] of cos(a)^(v - 1) / the same over [0, pi/2]
/// for Student's T with v degrees of freedom.  @param freedom  v, 1 or more
double student_p(double t, double freedom);

/// Gives the comparisons of one study their p-values for several comparisons at once, and their verdicts: better or
/// worse if the adjusted p-value is at most 0.05 and, with several seeds, the difference is above twice its standard
/// error over the seeds. @param higher_is_better  false for a loss
/// Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
void adjust(std::span<Comparison> comparisons, bool higher_is_better);

/// Returns whether a decided verdict has the sign of the paper's difference. A paper's difference below 0.05 has none.
Agreement agreement_with(double paper_difference, const Comparison& comparison);

}  // namespace dragoman::study
