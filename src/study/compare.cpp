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

// With Holm's correction the smallest p-value is about comparisons / resamples.
int resamples_for(size_t comparisons) {
  constexpr size_t kLeast = 1000, kForEach = 40;
  return static_cast<int>(std::max(kLeast, kForEach * comparisons));
}

// Mean over the seeds in each resample.
std::vector<double> mean_scores(std::span<const std::vector<double>> seeds) {
  std::vector<double> means(seeds.front().size(), 0.0);
  for (const std::vector<double>& scores : seeds) {
    std::ranges::transform(means, scores, means.begin(),
                           [&](double mean, double score) { return mean + score / static_cast<double>(seeds.size()); });
  }
  return means;
}

double sentences_p(const evaluation::Metric& metric, const SeedScores& baseline, const SeedScores& row,
                   double difference, int resamples) {
  std::vector<evaluation::Counted> candidates;
  for (const SeedScores* side : {&baseline, &row}) {
    for (const evaluation::CountTable& counts : side->counts) {
      candidates.push_back({&metric, &counts});
    }
  }
  const auto scores = evaluation::resample_scores(candidates, {.resamples = resamples, .seed = 12345});
  const auto of_baseline = std::span(scores).first(baseline.counts.size());
  const auto of_row = std::span(scores).subspan(baseline.counts.size());
  std::vector<double> differences = mean_scores(of_row);
  std::ranges::transform(differences, mean_scores(of_baseline), differences.begin(), std::minus());
  return evaluation::two_sided_p_value(differences, difference);
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

SeedVariance seed_variance(std::span<const Spread> rows) {
  double squares = 0.0, freedom = 0.0;
  for (const Spread& row : rows) {
    if (row.seeds > 1 && std::isfinite(row.deviation)) {
      squares += row.deviation * row.deviation * static_cast<double>(row.seeds - 1);
      freedom += static_cast<double>(row.seeds - 1);
    }
  }
  return {freedom > 0.0 ? squares / freedom : kNone, freedom};
}

namespace {

// By all rows, or by these two if they vary more.
double standard_error(const Spread& before, const Spread& after, const SeedVariance& seeds) {
  const auto by = [&](double first, double second) {
    return std::sqrt(first / static_cast<double>(before.seeds) + second / static_cast<double>(after.seeds));
  };
  return std::fmax(by(seeds.variance, seeds.variance),
                   by(before.deviation * before.deviation, after.deviation * after.deviation));
}

double seeds_p(double difference, double error, double freedom) {
  if (error == 0.0) {
    return difference == 0.0 ? 1.0 : 0.0;
  }
  return student_p(difference / error, freedom);
}

}  // namespace

Comparison compare(const evaluation::Metric* metric, const SeedScores& baseline, const SeedScores& row,
                   const SeedVariance& seeds, size_t comparisons) {
  const Spread before = spread_of(baseline.scores), after = spread_of(row.scores);
  Comparison comparison;
  comparison.difference = after.mean - before.mean;
  comparison.standard_error = standard_error(before, after, seeds);
  if (metric != nullptr && !baseline.counts.empty() && !row.counts.empty()) {
    comparison.p_value = sentences_p(*metric, baseline, row, comparison.difference, resamples_for(comparisons));
  }
  if (seeds.freedom > 0.0) {
    const double p = seeds_p(comparison.difference, comparison.standard_error, seeds.freedom);
    comparison.p_value = std::max(comparison.p_value.value_or(0.0), p);
  }
  return comparison;
}

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
    const bool is_decided = comparison.p_adjusted.has_value() && *comparison.p_adjusted <= kLevel;
    const bool is_up = comparison.difference > 0.0;
    comparison.verdict = !is_decided                 ? Verdict::kUndecided
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
