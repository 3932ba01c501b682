#include "kernels/cpu/output/best_logits.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/output/top_k.h"

namespace dragoman::kernels {
namespace {

int clamped(int k, int64_t columns) {
  return static_cast<int>(std::min<int64_t>(k, columns));
}

}  // namespace

void BestLogits::resize(int64_t rows, int k) {
  k_ = k;
  const auto count = static_cast<size_t>(rows);
  values_.resize(count * static_cast<size_t>(k));
  ids_.resize(count * static_cast<size_t>(k));
  log_sums_.resize(count);
}

BestRow BestLogits::row(size_t index) const {
  const auto k = static_cast<size_t>(k_);
  return {std::span(values_).subspan(index * k, k), std::span(ids_).subspan(index * k, k), log_sums_[index]};
}

void BestLogits::take_row(size_t index, std::span<const float> logits, std::span<const int32_t> ids) {
  const auto count = static_cast<int64_t>(logits.size());
  const size_t place = index * static_cast<size_t>(k_);
  const int known = clamped(k_, count);
  top_k(logits.data(), count, known, values_.data() + place, ids_.data() + place);
  for (size_t i = 0; i < static_cast<size_t>(k_); ++i) {
    if (i >= static_cast<size_t>(known)) {
      values_[place + i] = -std::numeric_limits<float>::infinity();
      ids_[place + i] = 0;
    } else if (!ids.empty()) {
      ids_[place + i] = ids[static_cast<size_t>(ids_[place + i])];
    }
  }
  log_sums_[index] = log_sums_wanted() ? log_sum_exp(logits.data(), count) : static_cast<double>(values_[place]);
}

void BestLogits::set_row(size_t index, const BestRow& row) {
  const size_t place = index * static_cast<size_t>(k_);
  std::ranges::copy(row.values, values_.begin() + static_cast<std::ptrdiff_t>(place));
  std::ranges::copy(row.ids, ids_.begin() + static_cast<std::ptrdiff_t>(place));
  log_sums_[index] = row.log_sum_exp;
}

void best_of_matrix(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int k, BestLogits& best) {
  best.resize(x.dim(0), clamped(k, matrix.columns()));
  std::vector<RowSummary> rows;
  matrix.multiply_in_parts(x, bias, [&](int64_t first_row, int64_t column, const Tensor& part) {
    rows.resize(static_cast<size_t>(part.dim(0)));
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t row = static_cast<size_t>(first_row) + i;
      const size_t place = row * static_cast<size_t>(best.k_);
      if (column == 0) {
        rows[i].begin(best.k_, best.values_.data() + place, best.ids_.data() + place, best.log_sums_wanted());
      }
      const int64_t stride = part.stride(0);
      rows[i].take(part.data<float>() + static_cast<int64_t>(i) * stride, column, part.dim(1));
      best.log_sums_[row] = column + part.dim(1) == matrix.columns() ? rows[i].log_sum_exp() : 0.0;
    }
  });
}

void best_of_rows(const Tensor& logits, int k, BestLogits& best) {
  best.resize(logits.dim(0), clamped(k, logits.dim(1)));
  for (int64_t row = 0; row < logits.dim(0); ++row) {
    const float* values = logits.data<float>() + row * logits.stride(0);
    best.take_row(static_cast<size_t>(row), {values, static_cast<size_t>(logits.dim(1))}, {});
  }
}

}  // namespace dragoman::kernels
