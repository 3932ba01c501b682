#include "study/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
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

// With Holm's correction the smallest p-value is about comparisons / resamples.
int resamples_for(size_t comparisons) {
  constexpr size_t kLeast = 1000, kForEach = 40;
  return static_cast<int>(std::max(kLeast, kForEach * comparisons));
}

double bootstrap(const evaluation::Metric& metric, const SeedScores& baseline, const SeedScores& row, int resamples) {
  const evaluation::CountTable first = summed(baseline.counts), second = summed(row.counts);
  const evaluation::Counted candidates[] = {{&metric, &first}, {&metric, &second}};
  const auto scores = evaluation::resample_scores(candidates, {.resamples = resamples, .seed = 12345});
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

double student_p(double t, double freedom) {
  // Simpson's rule from `from` to pi/2. cos(a)^(v - 1) narrows as v grows: beyond kWide standard widths it is 0.
  const auto area = [&](double from) {
    constexpr int kSteps = 2000;
    constexpr double kWide = 12.0;
    const double to = std::min(std::numbers::pi / 2, from + kWide / std::sqrt(freedom));
    const double width = (to - from) / kSteps;
    double sum = 0.0;
    for (int i = 0; i <= kSteps; ++i) {
      const double weight = i == 0 || i == kSteps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
      sum += weight * std::pow(std::max(std::cos(from + i * width), 0.0), freedom - 1.0);
    }
    return sum * width / 3.0;
  };
  return std::min(1.0, area(std::atan(std::abs(t) / std::sqrt(freedom))) / area(0.0));
}

namespace {

// Welch's: the two sides may vary by different amounts.
std::optional<double> welch_p(const Spread& first, const Spread& second) {
  const auto error_of = [](const Spread& spread) {
    return spread.deviation * spread.deviation / static_cast<double>(spread.seeds);
  };
  const double a = error_of(first), b = error_of(second);
  if (first.seeds < 2 || second.seeds < 2) {
    return std::nullopt;
  }
  const double difference = second.mean - first.mean;
  if (a + b == 0.0) {
    return difference == 0.0 ? 1.0 : 0.0;
  }
  const double freedom = (a + b) * (a + b) /
                         (a * a / static_cast<double>(first.seeds - 1) + b * b / static_cast<double>(second.seeds - 1));
  return student_p(difference / std::sqrt(a + b), freedom);
}

}  // namespace

Comparison compare(const evaluation::Metric* metric, const SeedScores& baseline, const SeedScores& row,
                   size_t comparisons) {
  const Spread before = spread_of(baseline.scores), after = spread_of(row.scores);
  Comparison comparison;
  comparison.difference = after.mean - before.mean;
  comparison.standard_error =
      std::sqrt(before.deviation * before.deviation / static_cast<double>(before.seeds) +
                after.deviation * after.deviation / static_cast<double>(after.seeds));  // NaN for one seed
  if (metric != nullptr && !baseline.counts.empty() && !row.counts.empty()) {
    comparison.p_value = bootstrap(*metric, baseline, row, resamples_for(comparisons));
  } else {
    comparison.p_value = welch_p(before, after);
  }
  return comparison;
}

namespace {

bool is_decided(const Comparison& comparison) {
  const bool has_seeds = std::isfinite(comparison.standard_error);
  const bool seeds_agree = has_seeds && std::abs(comparison.difference) > kErrors * comparison.standard_error;
  return comparison.p_adjusted.has_value() && *comparison.p_adjusted <= kLevel && (seeds_agree || !has_seeds);
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
