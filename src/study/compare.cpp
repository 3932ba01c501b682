#include "study/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "evaluation/significance.h"

namespace dragoman::study {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLevel = 0.05;
constexpr double kErrors = 2.0;  // standard errors that a difference must exceed

// The sentences' counts, summed over the seeds. Requires: all tables have the same shape.
evaluation::CountTable summed(const std::vector<evaluation::CountTable>& tables) {
  evaluation::CountTable sum = tables.front();
  for (size_t t = 1; t < tables.size(); ++t) {
    for (size_t i = 0; i < sum.rows(); ++i) {
      std::ranges::transform(sum.row(i), tables[t].row(i), sum.row(i).begin(), std::plus());
    }
  }
  return sum;
}

double bootstrap(const evaluation::Metric& metric, const SeedScores& baseline, const SeedScores& row) {
  const evaluation::CountTable first = summed(baseline.counts), second = summed(row.counts);
  const evaluation::Counted candidates[] = {{&metric, &first}, {&metric, &second}};
  const auto scores = evaluation::resample_scores(candidates, {.resamples = 1000, .seed = 12345});
  const double difference = std::abs(metric.score(first.sums()) - metric.score(second.sums()));
  if (difference == 0.0) {  // of equal texts no resample differs by more, and the formula would call that significant
    return 1.0;
  }
  return evaluation::paired_p_value(metric, scores[0], scores[1], difference);
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread{values.size(), kNone, kNone};
  if (values.empty()) {
    return spread;
  }
  const auto n = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() > 1) {
    double squares = 0.0;
    for (const double value : values) {
      squares += (value - spread.mean) * (value - spread.mean);
    }
    spread.deviation = std::sqrt(squares / (n - 1.0));
  }
  return spread;
}

Comparison compare(const evaluation::Metric* metric, const SeedScores& baseline, const SeedScores& row) {
  const Spread before = spread_of(baseline.scores), after = spread_of(row.scores);
  Comparison comparison;
  comparison.difference = after.mean - before.mean;
  comparison.standard_error =
      std::sqrt(before.deviation * before.deviation / static_cast<double>(before.seeds) +
                after.deviation * after.deviation / static_cast<double>(after.seeds));  // NaN for one seed
  if (metric != nullptr && !baseline.counts.empty() && !row.counts.empty()) {
    comparison.p_value = bootstrap(*metric, baseline, row);
  }
  return comparison;
}

namespace {

bool is_decided(const Comparison& comparison) {
  const bool has_seeds = std::isfinite(comparison.standard_error);
  const bool seeds_agree = has_seeds && std::abs(comparison.difference) > kErrors * comparison.standard_error;
  if (!comparison.p_adjusted.has_value()) {
    return seeds_agree;
  }
  return *comparison.p_adjusted <= kLevel && (seeds_agree || !has_seeds);
}

}  // namespace

void adjust(std::span<Comparison> comparisons, bool higher_is_better) {
  std::vector<Comparison*> tested;
  for (Comparison& comparison : comparisons) {
    if (comparison.p_value.has_value()) {
      tested.push_back(&comparison);
    }
  }
  std::ranges::stable_sort(tested, {}, [](const Comparison* comparison) { return *comparison->p_value; });
  double largest = 0.0;
  for (size_t i = 0; i < tested.size(); ++i) {
    largest = std::max(largest, *tested[i]->p_value * static_cast<double>(tested.size() - i));
    tested[i]->p_adjusted = std::min(largest, 1.0);
  }
  for (Comparison& comparison : comparisons) {
    const bool is_up = comparison.difference > 0.0;
    comparison.verdict = !is_decided(comparison)     ? Verdict::kUndecided
                         : is_up == higher_is_better ? Verdict::kBetter
                                                     : Verdict::kWorse;
  }
}

Agreement agreement_with(double paper_difference, const Comparison& comparison) {
  constexpr double kLeast = 0.05;
  if (comparison.verdict == Verdict::kUndecided || std::abs(paper_difference) < kLeast) {
    return Agreement::kUndecided;
  }
  const bool is_up = comparison.verdict == Verdict::kBetter;
  return is_up == (paper_difference > 0.0) ? Agreement::kAgrees : Agreement::kOpposite;
}

}  // namespace dragoman::study
