#pragma once

#include <functional>
#include <span>
#include <vector>

#include "evaluation/metric.h"

namespace dragoman::evaluation {

/// The interval mean +- half_width, which covers the 2.5th to the 97.5th percentile of the resampled scores.
struct Interval {
  double mean = 0.0;
  double half_width = 0.0;
};

/// The counts of one system by one metric.
struct Counted {
  const Metric* metric = nullptr;
  const CountTable* counts = nullptr;
};

/// Throws: Error(kUsage), "confidence-n is 1, must be at least 2".
void check_resamples(int resamples);

/// Returns the scores of `resampling.resamples` corpora that are drawn with replacement, one list for each candidate.
/// All candidates use the same draws, which makes a comparison paired. For equal seeds the draws are those of
/// sacreBLEU. Requires: all candidates have equal numbers of rows. Source: Efron 1979; Koehn 2004, "Statistical
/// Significance Tests for Machine Translation Evaluation", section 3.
/// @param scored  is told the number of resamples done, after each; may be unset
std::vector<std::vector<double>> resample_scores(std::span<const Counted> candidates, const Resampling& resampling,
                                                 const std::function<void(int done)>& scored = {});

/// Returns the interval of one system. The mean is exact and rounded once.
Interval confidence_interval(const Metric& metric, const std::vector<double>& scores);

/// Returns the interval that a paired test prints. Its mean is rounded as the mean of numpy.
Interval paired_interval(const Metric& metric, const std::vector<double>& scores);

/// Returns the probability of a chance difference as large as `real_difference` = |score(baseline) - score(system)|:
///   p = (1 + #{ |d_i| - mean |d| > real_difference }) / (1 + n),   d_i = difference in resample i
/// The value is in (0, 1]. Below 0.05 the systems count as different.
/// Source: Koehn 2004, section 4, with the shift of bootstrap-hypothesis-difference-significance.pl of Moses.
double paired_p_value(const Metric& metric, const std::vector<double>& baseline, const std::vector<double>& system,
                      double real_difference);

}  // namespace dragoman::evaluation
