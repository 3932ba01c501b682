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

/// A variance, and how well it is known.
struct Variance {
  double value = 0.0;
  double freedom = 0.0;  ///< degrees of freedom; 0: nothing is known
};

/// Returns the variance of a score over seeds, of all rows together. A row of n seeds adds n - 1 degrees of freedom; a
/// row whose seeds all have one score adds nothing, for it tells of a training that failed.
Variance seed_variance(std::span<const Spread> rows);

/// A row against the baseline.
struct Comparison {
  double difference = 0.0;           ///< of the means over the seeds, row - baseline
  double standard_error = 0.0;       ///< of the difference, by sentences and seeds as far as known; NaN for neither
  std::optional<double> p_value;     ///< of Student's t = difference / standard_error
  std::optional<double> p_adjusted;  ///< for the number of comparisons (adjust)
  Verdict verdict = Verdict::kUndecided;
};

/// Compares the means over the seeds. Chance has two sources, whose variances add:
///   - sentences: the difference of the means in each resample of a paired bootstrap. Needs counts of two sentences.
///   - seeds: s^2 (1/n_baseline + 1/n_row) with s^2 = `seeds`, or the variance of the two rows alone where that is
///     more, since a row may vary more than the others. Not known where no row has two seeds.
/// The sum has Satterthwaite's degrees of freedom; n sentences have n - 1. With neither source there is no p-value.
/// The verdict stays open until `adjust`. Requires: one score or more on both sides.
/// Source: Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation"; Dunnett 1955, "A Multiple
/// Comparison Procedure for Comparing Several Treatments with a Control", for the common variance; Satterthwaite 1946,
/// "An Approximate Distribution of Estimates of Variance Components".
Comparison compare(const evaluation::Metric* metric, const SeedScores& baseline, const SeedScores& row,
                   const Variance& seeds);

/// Returns the probability that a difference of means is as many standard errors from 0 or more, by chance:
///   P(|T| >= t) = integral over [atan(t / sqrt(v)), pi/2] of cos(a)^(v - 1) / the same over [0, pi/2]
/// for Student's T with v degrees of freedom.  @param freedom  v, 1 or more
double student_p(double t, double freedom);

/// Gives the comparisons of one study their p-values for several comparisons at once, and their verdicts: better or
/// worse if the adjusted p-value is at most 0.05. @param higher_is_better  false for a loss
/// Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
void adjust(std::span<Comparison> comparisons, bool higher_is_better);

/// Returns whether a decided verdict has the sign of the paper's difference. A paper's difference below 0.05 has none.
Agreement agreement_with(double paper_difference, const Comparison& comparison);

}  // namespace dragoman::study
