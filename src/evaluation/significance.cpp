#include "evaluation/significance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "evaluation/numpy_random.h"

namespace dragoman::evaluation {
namespace {

std::vector<float> as_floats(const CountTable& table) {
  std::vector<float> values;
  values.reserve(table.rows() * table.columns());
  for (size_t i = 0; i < table.rows(); ++i) {
    for (const double count : table.row(i)) {
      values.push_back(static_cast<float>(count));
    }
  }
  return values;
}

// numpy's pairwise summation (Higham 2002, section 4.2) with its blocks of 128 and eight partial sums.
template <typename Real>
Real numpy_sum(std::span<const Real> values) {
  const size_t n = values.size();
  if (n < 8) {
    Real sum = 0;
    for (const Real value : values) {
      sum += value;
    }
    return sum;
  }
  if (n > 128) {
    const size_t half = n / 2 - n / 2 % 8;
    return numpy_sum(values.first(half)) + numpy_sum(values.subspan(half));
  }
  std::array<Real, 8> part;
  std::copy_n(values.begin(), 8, part.begin());
  size_t at = 8;
  for (; at < n - n % 8; at += 8) {
    for (size_t j = 0; j < 8; ++j) {
      part[j] += values[at + j];
    }
  }
  Real sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  for (; at < n; ++at) {
    sum += values[at];
  }
  return sum;
}

template <typename Real>
Real numpy_mean(const std::vector<Real>& values) {
  return numpy_sum<Real>(values) / static_cast<Real>(values.size());
}

// Half the distance between the ends of the middle 95 % of sorted scores.
template <typename Real>
Real half_width(const std::vector<Real>& sorted) {
  const size_t lower = sorted.size() / 40;
  return Real{0.5} * (sorted[sorted.size() - lower - 1] - sorted[lower]);
}

template <typename Real>
std::vector<Real> sorted_as(const std::vector<double>& scores) {
  std::vector<Real> sorted(scores.size());
  std::transform(scores.begin(), scores.end(), sorted.begin(), [](double score) { return static_cast<Real>(score); });
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

template <typename Real>
double p_value(const std::vector<double>& baseline, const std::vector<double>& system, double real_difference) {
  std::vector<Real> differences(system.size());
  for (size_t i = 0; i < system.size(); ++i) {
    differences[i] = std::abs(static_cast<Real>(system[i]) - static_cast<Real>(baseline[i]));
  }
  const Real mean = numpy_mean(differences);
  const auto exceeding = std::count_if(differences.begin(), differences.end(), [&](Real difference) {
    return difference - mean > static_cast<Real>(real_difference);
  });
  return static_cast<double>(exceeding + 1) / static_cast<double>(differences.size() + 1);
}

template <typename Real>
Interval numpy_interval(const std::vector<double>& scores) {
  const std::vector<Real> sorted = sorted_as<Real>(scores);
  return {.mean = numpy_mean(sorted), .half_width = half_width(sorted)};
}

void check_candidates(std::span<const Counted> candidates, const Resampling& resampling) {
  check_resamples(resampling.resamples);
  for (const Counted& candidate : candidates) {
    const size_t rows = candidate.counts->rows();
    base::check_argument(
        rows >= 1 && rows == candidates[0].counts->rows() && rows < std::numeric_limits<uint32_t>::max(),
        "bootstrap: one system has {} sentences, another {}; they must be equal, 1 to 4294967294",
        candidates[0].counts->rows(), rows);
  }
}

}  // namespace

void check_resamples(int resamples) {
  base::check_usage(resamples >= 2, "confidence-n is {}, must be at least 2", resamples);
}

std::vector<std::vector<double>> resample_scores(std::span<const Counted> candidates, const Resampling& resampling,
                                                 const std::function<void(int)>& scored) {
  check_candidates(candidates, resampling);
  std::vector<std::vector<double>> scores(candidates.size());
  std::vector<std::vector<float>> counts;
  for (const Counted& candidate : candidates) {
    counts.push_back(as_floats(*candidate.counts));
  }
  const size_t rows = candidates.empty() ? 0 : candidates[0].counts->rows();
  NumpyRandom random(resampling.seed);
  std::vector<uint32_t> drawn(rows);
  std::vector<float> sums;
  for (int sample = 0; sample < resampling.resamples; ++sample) {
    std::generate(drawn.begin(), drawn.end(), [&] { return random.below(static_cast<uint32_t>(rows)); });
    for (size_t c = 0; c < candidates.size(); ++c) {
      const size_t columns = candidates[c].counts->columns();
      sums.assign(columns, 0.0F);
      for (const uint32_t row : drawn) {
        const float* values = counts[c].data() + row * columns;
        for (size_t j = 0; j < columns; ++j) {
          sums[j] += values[j];
        }
      }
      scores[c].push_back(candidates[c].metric->resampled_score(sums));
    }
    if (scored) {
      scored(sample + 1);
    }
  }
  return scores;
}

Interval confidence_interval(const Metric& metric, const std::vector<double>& scores) {
  long double sum = 0.0L;
  for (const double score : scores) {
    sum += score;
  }
  const auto mean = static_cast<double>(sum / static_cast<long double>(scores.size()));
  if (metric.resamples_in_float32()) {
    return {.mean = static_cast<float>(mean), .half_width = half_width(sorted_as<float>(scores))};
  }
  return {.mean = mean, .half_width = half_width(sorted_as<double>(scores))};
}

Interval paired_interval(const Metric& metric, const std::vector<double>& scores) {
  return metric.resamples_in_float32() ? numpy_interval<float>(scores) : numpy_interval<double>(scores);
}

double paired_p_value(const Metric& metric, const std::vector<double>& baseline, const std::vector<double>& system,
                      double real_difference) {
  base::check_argument(!system.empty() && baseline.size() == system.size(),
                       "paired_p_value: {} scores of the baseline, {} of the system; the numbers must be equal, not 0",
                       baseline.size(), system.size());
  return metric.resamples_in_float32() ? p_value<float>(baseline, system, real_difference)
                                       : p_value<double>(baseline, system, real_difference);
}

}  // namespace dragoman::evaluation
