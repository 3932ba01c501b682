#include "decoding/search/coverage.h"

#include <algorithm>
#include <cmath>

namespace dragoman::decoding {
namespace {

constexpr double kNeverLookedAt = 1e-10;

}  // namespace

CoverageTable::CoverageTable(double beta, int64_t source_length)
    : beta_(beta), pieces_(beta > 0.0 && source_length > 1 ? static_cast<size_t>(source_length) - 1 : 0) {
  rows_.assign(pieces_, 0.0);
}

void CoverageTable::add(size_t count, const float* weights, int64_t stride) {
  for (size_t row = 0; row < count; ++row) {
    double* sums = rows_.data() + row * pieces_;
    for (size_t piece = 0; piece < pieces_; ++piece) {
      sums[piece] += static_cast<double>(weights[piece]);
    }
    weights += stride;
  }
}

void CoverageTable::inherit(size_t parent) {
  const auto first = rows_.begin() + static_cast<ptrdiff_t>(parent * pieces_);
  next_rows_.insert(next_rows_.end(), first, first + static_cast<ptrdiff_t>(pieces_));
}

void CoverageTable::turn() {
  rows_.swap(next_rows_);
  next_rows_.clear();
}

double CoverageTable::penalty(size_t row) const {
  double sum = 0.0;
  for (const double covered : std::span(rows_).subspan(row * pieces_, pieces_)) {
    sum += std::log(std::clamp(covered, kNeverLookedAt, 1.0));
  }
  return beta_ * sum;
}

}  // namespace dragoman::decoding
