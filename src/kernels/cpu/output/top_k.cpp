#include "kernels/cpu/output/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/cpu/gemm/packed_matrix.h"
#include "kernels/cpu/output/top_k_cpu.h"

namespace dragoman::kernels {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Adds the terms of more elements to sum = sum_j exp(x_j - shift), where `largest` is that of all elements so far.
void add_exponentials(const float* row, int64_t n, float largest, float& shift, double& sum) {
  const float next = largest == kLowest ? 0.0F : largest;
  if (next != shift) {
    sum = sum == 0.0 ? 0.0 : sum * std::exp(static_cast<double>(shift) - static_cast<double>(next));
    shift = next;
  }
  sum += static_cast<double>(sum_of_exponentials(row, n, shift));
}

}  // namespace

void top_k(const float* row, int64_t n, int k, float* values, int32_t* ids) {
  base::check_argument(1 <= k && k <= n, "top_k: k is {}, must be in [1, {}]", k, n);
  if (const float floor = floor_of_largest(row, n, k); floor > kLowest) {
    std::fill_n(values, k, std::nextafter(floor, kLowest));  // these drop out
    std::fill_n(ids, k, 0);
    return insert_larger(row, 0, n, 0, {k, values, ids});
  }
  const auto comparable = [&](int64_t index) { return std::isnan(row[index]) ? kLowest : row[index]; };
  for (int size = 1; size <= k; ++size) {
    values[size - 1] = kLowest;
    FallingList{size, values, ids}.insert(comparable(size - 1), size - 1);
  }
  insert_larger(row, k, n, 0, {k, values, ids});
}

int32_t argmax(const float* row, int64_t n) {
  base::check_argument(n >= 1, "argmax: the row is empty, must have elements");
  float value = 0;
  int32_t id = 0;
  top_k(row, n, 1, &value, &id);
  return id;
}

double log_sum_exp(const float* row, int64_t n) {
  float largest = kLowest, shift = 0;
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kPartColumns) {
    const int64_t part = std::min(n - begin, kPartColumns);
    largest = std::max(largest, largest_of(row + begin, part));
    add_exponentials(row + begin, part, largest, shift, sum);
  }
  return static_cast<double>(shift) + std::log(sum);
}

void RowSummary::begin(int k, float* values, int32_t* ids, bool with_sum) {
  *this = {};
  k_ = k;
  with_sum_ = with_sum;
  values_ = values;
  ids_ = ids;
}

void RowSummary::take(const float* part, int64_t column, int64_t n) {
  if (column == 0) {
    top_k(part, n, k_, values_, ids_);
  } else {
    insert_larger(part, 0, n, static_cast<int32_t>(column), {k_, values_, ids_});
  }
  if (with_sum_) {
    add_exponentials(part, n, values_[0], shift_, sum_);
  }
}

double RowSummary::log_sum_exp() const {
  return with_sum_ ? static_cast<double>(shift_) + std::log(sum_) : static_cast<double>(values_[0]);
}

}  // namespace dragoman::kernels
