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

// Mean over the seeds in each resample.
std::vector<double> mean_scores(std::span<const std::vector<double>> seeds) {
  std::vector<double> means(seeds.front().size(), 0.0);
  for (const std::vector<double>& scores : seeds) {
    std::ranges::transform(means, scores, means.begin(),
                           [&](double mean, double score) { return mean + score / static_cast<double>(seeds.size()); });
  }
  return means;
}

// Of the difference of the means. One sentence tells nothing.
Variance sentence_variance(const evaluation::Metric& metric, const SeedScores& baseline, const SeedScores& row) {
  std::vector<evaluation::Counted> candidates;
  for (const SeedScores* side : {&baseline, &row}) {
    for (const evaluation::CountTable& counts : side->counts) {
      candidates.push_back({&metric, &counts});
    }
  }
  const auto sentences = static_cast<double>(baseline.counts.front().rows());
  if (sentences < 2.0) {
    return {};
  }
  constexpr int kResamples = 300;  // a standard error to 4 %; all seeds of a row are scored in each
  const auto scores = evaluation::resample_scores(candidates, {.resamples = kResamples, .seed = 12345});
  const auto of_baseline = std::span(scores).first(baseline.counts.size());
  const auto of_row = std::span(scores).subspan(baseline.counts.size());
  std::vector<double> differences = mean_scores(of_row);
  std::ranges::transform(differences, mean_scores(of_baseline), differences.begin(), std::minus());
  const double deviation = spread_of(differences).deviation;
  return {deviation * deviation * sentences / (sentences - 1.0), sentences - 1.0};
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

Variance seed_variance(std::span<const Spread> rows) {
  double squares = 0.0, freedom = 0.0;
  for (const Spread& row : rows) {
    if (row.seeds > 1 && std::isfinite(row.deviation) && row.deviation > 0.0) {
      squares += row.deviation * row.deviation * static_cast<double>(row.seeds - 1);
      freedom += static_cast<double>(row.seeds - 1);
    }
  }
  return freedom > 0.0 ? Variance{squares / freedom, freedom} : Variance{};
}

namespace {

// Of the difference: by all rows, or by these two if they vary more.
Variance difference_variance(const Spread& before, const Spread& after, const Variance& seeds) {
  const auto by = [&](double first, double second) {
    return first / static_cast<double>(before.seeds) + second / static_cast<double>(after.seeds);
  };
  const double of_two = by(before.deviation * before.deviation, after.deviation * after.deviation);
  return {std::fmax(by(seeds.value, seeds.value), of_two), seeds.freedom};
}

// Satterthwaite's degrees of freedom. One that is not known adds nothing.
Variance sum(const Variance& first, const Variance& second) {
  if (first.freedom == 0.0 || second.freedom == 0.0) {
    return first.freedom == 0.0 ? second : first;
  }
  const double value = first.value + second.value;
  const double squares = first.value * first.value / first.freedom + second.value * second.value / second.freedom;
  return {value, squares > 0.0 ? value * value / squares : first.freedom + second.freedom};
}

double p_of(double difference, const Variance& variance) {
  if (variance.value == 0.0) {
    return difference == 0.0 ? 1.0 : 0.0;
  }
  return student_p(difference / std::sqrt(variance.value), variance.freedom);
}

}  // namespace

Comparison compare(const evaluation::Metric* metric, const SeedScores& baseline, const SeedScores& row,
                   const Variance& seeds) {
  const Spread before = spread_of(baseline.scores), after = spread_of(row.scores);
  const bool has_counts = metric != nullptr && !baseline.counts.empty() && !row.counts.empty();
  const Variance variance = sum(has_counts ? sentence_variance(*metric, baseline, row) : Variance{},
                                seeds.freedom > 0.0 ? difference_variance(before, after, seeds) : Variance{});
  Comparison comparison;
  comparison.difference = after.mean - before.mean;
  comparison.standard_error = variance.freedom > 0.0 ? std::sqrt(variance.value) : kNone;
  if (variance.freedom > 0.0) {
    comparison.p_value = p_of(comparison.difference, variance);
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
