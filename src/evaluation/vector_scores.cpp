#include "evaluation/vector_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/error.h"

namespace dragoman::evaluation {
namespace {

constexpr double kPercentOfTexts = 100.0;

template <typename Number>
Number number_of(std::string_view text, const std::string& name, size_t line) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  base::check_data(error == std::errc() && end == text.data() + text.size() && std::isfinite(number),
                   "{}: line {}: \"{}\" is no number", name, line, text.substr(0, 40));
  return number;
}

// Several sums at a time: a single one waits for each addition.
double product_of(std::span<const float> x, std::span<const float> y) {
  constexpr size_t kSums = 8;
  std::array<double, kSums> sums{};
  size_t at = 0;
  for (; at + kSums <= x.size(); at += kSums) {
    for (size_t lane = 0; lane < kSums; ++lane) {
      sums[lane] += static_cast<double>(x[at + lane]) * static_cast<double>(y[at + lane]);
    }
  }
  for (; at < x.size(); ++at) {
    sums[at % kSums] += static_cast<double>(x[at]) * static_cast<double>(y[at]);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// 1 / length, or 0 of a vector of zeros.
std::vector<double> inverse_lengths(const VectorRows& rows) {
  std::vector<double> inverse;
  for (size_t text = 0; text < rows.size(); ++text) {
    const double length = std::sqrt(product_of(rows.row(text), rows.row(text)));
    inverse.push_back(length > 0.0 ? 1.0 / length : 0.0);
  }
  return inverse;
}

}  // namespace

double cosine_of(std::span<const float> left, std::span<const float> right) {
  const double lengths = std::sqrt(product_of(left, left) * product_of(right, right));
  return lengths > 0.0 ? product_of(left, right) / lengths : 0.0;
}

std::vector<RightRank> ranks_of_right(const VectorRows& left, const VectorRows& right) {
  base::check_argument(left.size() == right.size() && left.width == right.width,
                       "ranks: {} vectors of width {} and {} of width {}", left.size(), left.width, right.size(),
                       right.width);
  const std::vector<double> inverse = inverse_lengths(right);  // that of the left one does not change its order
  std::vector<RightRank> ranks(left.size());
  for (size_t text = 0; text < left.size(); ++text) {
    const auto nearness = [&](size_t other) { return product_of(left.row(text), right.row(other)) * inverse[other]; };
    const double of_right = nearness(text);
    for (size_t other = 0; other < right.size(); ++other) {
      const double of_other = other == text ? of_right : nearness(other);
      ranks[text].before += of_other > of_right ? 1.0 : 0.0;
      ranks[text].ties += other != text && of_other == of_right ? 1.0 : 0.0;
    }
  }
  return ranks;
}

VectorRows vectors_of_lines(Lines lines, const std::string& name) {
  VectorRows rows;
  for (size_t line = 0; line < lines.size(); ++line) {
    const std::string_view text = lines[line];
    size_t width = 0;
    for (size_t begin = 0; begin <= text.size(); ++width) {
      const size_t end = std::min(text.find('\t', begin), text.size());
      rows.values.push_back(number_of<float>(text.substr(begin, end - begin), name, line + 1));
      begin = end + 1;
    }
    base::check_data(line == 0 || width == rows.width, "{}: line {} has {} numbers, the lines before have {}", name,
                     line + 1, width, rows.width);
    rows.width = width;
  }
  return rows;
}

std::vector<std::string> ranks_of_lines(Lines left, Lines right, const std::string& left_name,
                                        const std::string& right_name) {
  const VectorRows of_left = vectors_of_lines(left, left_name), of_right = vectors_of_lines(right, right_name);
  base::check_data(of_left.width == of_right.width,
                   "evaluate: the vectors of {} have {} numbers, those of {} have {}; take one model for both",
                   left_name, of_left.width, right_name, of_right.width);
  base::check_data(of_left.size() == of_right.size(),
                   "evaluate: {} has {} lines, {} has {}; they must correspond line by line", left_name, of_left.size(),
                   right_name, of_right.size());
  std::vector<std::string> ranks;
  for (const RightRank& rank : ranks_of_right(of_left, of_right)) {
    ranks.push_back(fmt::format("{} {}", rank.before, rank.ties));
  }
  return ranks;
}

std::vector<std::string> number_ranks_of_lines(Lines lines, const std::string& name) {
  std::vector<double> numbers;
  for (const std::string& line : lines) {
    const size_t tab = line.rfind('\t');
    numbers.push_back(number_of<double>(std::string_view(line).substr(tab == std::string::npos ? 0 : tab + 1), name,
                                        numbers.size() + 1));
  }
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  std::vector<std::string> ranks(numbers.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) {
      ++end;
    }
    for (size_t place = begin; place < end; ++place) {
      ranks[order[place]] = fmt::format("{}", static_cast<double>(begin + end + 1) / 2.0);
    }
  }
  return ranks;
}

CountTable RetrievalMetric::count(Lines hypothesis, std::span<const Lines> references) const {
  check_same_lines(hypothesis, references);
  CountTable table(hypothesis.size(), 2);
  for (size_t line = 0; line < hypothesis.size(); ++line) {
    const std::string& ranks = hypothesis[line];
    const size_t blank = ranks.find(' ');
    const RightRank rank{number_of<double>(std::string_view(ranks).substr(0, blank), name(), line + 1),
                         number_of<double>(std::string_view(ranks).substr(blank + 1), name(), line + 1)};
    table.row(line)[0] = 1.0;
    table.row(line)[1] = of_ranks_ ? rank.reciprocal() : rank.is_first();
  }
  return table;
}

double RetrievalMetric::score(std::span<const double> sums) const {
  return kPercentOfTexts * sums[1] / sums[0];
}

double RetrievalMetric::resampled_score(std::span<const float> sums) const {
  return score(std::array<double, 2>{static_cast<double>(sums[0]), static_cast<double>(sums[1])});
}

std::string RetrievalMetric::details(std::span<const double> sums) const {
  return of_ranks_ ? "" : fmt::format("({:.0f} of {:.0f})", sums[1], sums[0]);
}

Signature RetrievalMetric::signature(size_t n_references, const Resampling& resampling) const {
  Signature signature = open_signature(n_references, resampling);
  signature.add("nearness", "cosine");
  return signature;
}

// The columns: lines, x, y, x^2, y^2, x y.
CountTable SpearmanMetric::count(Lines hypothesis, std::span<const Lines> references) const {
  check_same_lines(hypothesis, references);
  CountTable table(hypothesis.size(), 6);
  for (size_t line = 0; line < hypothesis.size(); ++line) {
    const auto x = number_of<double>(hypothesis[line], name(), line + 1);
    const auto y = number_of<double>(references.front()[line], name(), line + 1);
    std::ranges::copy(std::array{1.0, x, y, x * x, y * y, x * y}, table.row(line).begin());
  }
  return table;
}

double SpearmanMetric::score(std::span<const double> sums) const {
  const double n = sums[0];
  const double of_x = n * sums[3] - sums[1] * sums[1], of_y = n * sums[4] - sums[2] * sums[2];
  return of_x > 0.0 && of_y > 0.0 ? kPercentOfTexts * (n * sums[5] - sums[1] * sums[2]) / std::sqrt(of_x * of_y) : 0.0;
}

double SpearmanMetric::resampled_score(std::span<const float> sums) const {
  const std::vector<double> wide(sums.begin(), sums.end());
  return score(wide);
}

Signature SpearmanMetric::signature(size_t n_references, const Resampling& resampling) const {
  return open_signature(n_references, resampling);
}

}  // namespace dragoman::evaluation
