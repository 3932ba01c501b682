#pragma once

#include <span>
#include <vector>

#include "evaluation/metric.h"

namespace dragoman::evaluation {

/// mean +- half_width covers 95 % of the resampled scores: from the 2.5th to the 97.5th percentile.
struct Interval {
  double mean = 0.0;
  double half_width = 0.0;
};

/// One system as one metric sees it.
struct Counted {
  const Metric* metric = nullptr;
  const CountTable* counts = nullptr;
};

/// Scores of `resampling.resamples` corpora of the same size, drawn with replacement. All candidates see the same
/// sentences drawn, which is what makes a comparison paired.
/// @param candidates  tables of equal row count
/// @return one list of scores for each candidate. Deterministic; the draws equal sacreBLEU's for the same seed.
/// Source: Efron 1979; Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation", section 3.
std::vector<std::vector<double>> resample_scores(std::span<const Counted> candidates, const Resampling& resampling);

/// The interval of one system. The mean is exact, rounded once.
Interval confidence_interval(const Metric& metric, const std::vector<double>& scores);

/// The interval that a paired test prints: as above but for the rounding of numpy's mean.
Interval paired_interval(const Metric& metric, const std::vector<double>& scores);

/// How likely a difference as large as `real_difference` = |score(baseline) - score(system)| is by chance:
///   p = (1 + #{ |d_i| - mean |d| > real_difference }) / (1 + n),   d_i = difference in resample i
/// @return in (0, 1]; below 0.05 the systems are called different.
/// Source: Koehn 2004, section 4, with the shift of bootstrap-hypothesis-difference-significance.pl of Moses.
double paired_p_value(const Metric& metric, const std::vector<double>& baseline, const std::vector<double>& system,
                      double real_difference);

}  // namespace dragoman::evaluation
