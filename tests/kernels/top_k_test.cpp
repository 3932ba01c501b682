#include "kernels/cpu/output/top_k.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "support/error_of.h"

namespace dragoman::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Rounded, so that there are many equals.
std::vector<float> random_row(int64_t n, uint64_t seed, double levels) {
  base::Random random(seed);
  std::vector<float> row(static_cast<size_t>(n));
  std::ranges::generate(row, [&] { return static_cast<float>(std::floor(random.uniform() * levels)); });
  return row;
}

std::vector<int32_t> ids_by_sorting(const std::vector<float>& row, int k) {
  std::vector<int32_t> ids(row.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(
      ids, [&](int32_t a, int32_t b) { return row[static_cast<size_t>(a)] > row[static_cast<size_t>(b)]; });
  ids.resize(static_cast<size_t>(k));
  return ids;
}

std::vector<int32_t> ids_of(const std::vector<float>& row, int k) {
  std::vector<float> values(static_cast<size_t>(k));
  std::vector<int32_t> ids(static_cast<size_t>(k));
  top_k(row.data(), static_cast<int64_t>(row.size()), k, values.data(), ids.data());
  for (size_t place = 0; place < ids.size(); ++place) {
    const float expected = row[static_cast<size_t>(ids[place])];
    EXPECT_TRUE(values[place] == expected || std::isnan(expected)) << "value at place " << place;
  }
  return ids;
}

TEST(TopK, EqualsAStableSort) {
  for (const int64_t n : {1, 7, 8, 31, 33, 64, 65, 300, 10001}) {
    for (const double levels : {3.0, 50.0, 1e6}) {
      const std::vector<float> row = random_row(n, static_cast<uint64_t>(n), levels);
      for (const int k : {1, 2, 4, 5, 8, 64}) {
        if (k <= n) {
          EXPECT_EQ(ids_of(row, k), ids_by_sorting(row, k)) << "n=" << n << " k=" << k << " levels=" << levels;
        }
      }
      EXPECT_EQ(argmax(row.data(), n), ids_by_sorting(row, 1)[0]) << "n=" << n;
    }
  }
}

TEST(TopK, RisingRowReplacesEverything) {
  std::vector<float> row(500);
  std::iota(row.begin(), row.end(), 0.0F);
  EXPECT_EQ(ids_of(row, 3), (std::vector<int32_t>{499, 498, 497}));
}

TEST(TopK, NotANumberIsTheSmallest) {
  std::vector<float> row(100, kNan);
  row[70] = -5;
  row[71] = 2;
  EXPECT_EQ(ids_of(row, 2), (std::vector<int32_t>{71, 70}));
  EXPECT_EQ(ids_of({kNan, -kInfinity, 1}, 1), (std::vector<int32_t>{2}));
}

TEST(TopK, RefusesAnImpossibleK) {
  const std::vector<float> row(4);
  float value = 0;
  int32_t id = 0;
  EXPECT_EQ(test_support::error_of([&] { top_k(row.data(), 4, 5, &value, &id); }), "top_k: k is 5, must be in [1, 4]");
  EXPECT_EQ(test_support::error_of([&] { top_k(row.data(), 4, 0, &value, &id); }), "top_k: k is 0, must be in [1, 4]");
  EXPECT_EQ(test_support::error_of([&] { argmax(row.data(), 0); }), "argmax: the row is empty, must have elements");
}

TEST(LogSumExp, MatchesDoublePrecision) {
  for (const int64_t n : {1, 7, 31, 33, 64, 300, 10001}) {
    const std::vector<float> row = random_row(n, 5, 40.0);
    double sum = 0;
    for (const float value : row) {
      sum += std::exp(static_cast<double>(value));
    }
    EXPECT_NEAR(log_sum_exp(row.data(), n), std::log(sum), 1e-6) << "n=" << n;
  }
}

TEST(LogSumExp, EdgeCases) {
  const std::vector<float> huge{1e30F, -1e30F}, nothing{-kInfinity, -kInfinity}, broken{0, kNan};
  EXPECT_DOUBLE_EQ(log_sum_exp(huge.data(), 2), static_cast<double>(1e30F));
  EXPECT_EQ(log_sum_exp(nothing.data(), 2), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(log_sum_exp(nothing.data(), 0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(log_sum_exp(broken.data(), 2)));
}

}  // namespace
}  // namespace dragoman::kernels
