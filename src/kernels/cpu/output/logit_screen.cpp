#include "kernels/cpu/output/logit_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/output/logit_screen_cpu.h"
#include "kernels/cpu/output/top_k_cpu.h"

namespace dragoman::kernels {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr size_t kMostCandidates = 512;  // a row with more is multiplied by the whole matrix

struct Candidate {
  float logit;  // by the product in int8
  int32_t id;
};

// Not finite ones are so in every product, and set no other's error.
double largest_finite(const Tensor& bias) {
  double largest = 0;
  for (int64_t i = 0; bias.defined() && i < bias.size(); ++i) {
    const double size = std::abs(static_cast<double>(bias.data<float>()[i]));
    largest = std::isfinite(size) ? std::max(largest, size) : largest;
  }
  return largest;
}

// The tokens of one row that can have its largest logit, as its logits in int8 come.
class Candidates {
 public:
  // @param error  of a logit in int8, at most
  explicit Candidates(double error) : error_(error) {}
  // @param logits  of the `n` tokens from `first_id` on, at most kPartColumns
  void take(const float* logits, int64_t n, int32_t first_id) {
    if (!can_tell()) {
      return;
    }
    largest_ = std::max(largest_, largest_of(logits, n));
    std::array<int32_t, kPartColumns + 64> ids;
    const int64_t count = ids_at_least(logits, n, floor(), first_id, ids.data());
    for (int64_t i = 0; i < count; ++i) {
      const int32_t id = ids[static_cast<size_t>(i)];
      found_.push_back({logits[id - first_id], id});
    }
    if (found_.size() > kMostCandidates) {  // the largest may have risen since they were found
      std::erase_if(found_, [floor = floor()](const Candidate& candidate) { return candidate.logit < floor; });
    }
  }
  // Whether those found are all that can be the largest; false as well for a row that is not finite.
  bool can_tell() const { return std::isfinite(error_) && found_.size() <= kMostCandidates; }
  // The largest by `exact(id)`, the lower id of equals; computed in falling order of what they are in int8, until none
  // of the others can reach it.
  template <class Exact>
  Candidate largest(const Exact& exact) {
    std::ranges::sort(found_, std::greater<>(), &Candidate::logit);
    Candidate best{kNothing, 0};
    for (const auto [logit, id] : found_) {
      if (static_cast<double>(logit) + error_ < static_cast<double>(best.logit)) {
        break;
      }
      const float value = exact(id);
      if (value > best.logit || (value == best.logit && id < best.id)) {
        best = {value, id};
      }
    }
    return best;
  }

 private:
  // Below it a logit in int8 is too low.
  float floor() const {
    return std::nextafter(static_cast<float>(static_cast<double>(largest_) - 2 * error_), kNothing);
  }

  double error_;
  float largest_ = kNothing;
  std::vector<Candidate> found_;
};

}  // namespace

LogitScreen::LogitScreen(const PackedMatrix& matrix) : rounded_(PackedMatrix::rounded(matrix)) {
  const Rounding most = largest_column_rounding(matrix.storage(), {matrix.rows(), matrix.columns()},
                                                rounded_.storage().scales.data<float>());
  kept_ = std::sqrt(static_cast<double>(most.kept));
  lost_ = std::sqrt(static_cast<double>(most.lost));
}

bool LogitScreen::pays() {
  const ProductKernel kernel = product_kernel(Precision::kInt8);
  return kernel == ProductKernel::kInt8Dot || kernel == ProductKernel::kInt8Amx;
}

double LogitScreen::error_of(const float* x, double largest_bias) const {
  const auto n = static_cast<double>(rounded_.rows());
  const Rounding row = rounding_of_row(x, rounded_.rows());
  const double kept = std::sqrt(static_cast<double>(row.kept)), lost = std::sqrt(static_cast<double>(row.lost));
  const double rounded = lost * kept_ + (kept + lost) * lost_;
  // Twice the bound of the sums in float32: for those of the logits, of their products in int8 and of the lengths.
  const double of_sums = (n + 8) * std::ldexp((kept + lost) * (kept_ + lost_) + largest_bias, -23);
  const double of_tiny_scales = n * 1e-28 * (1 + kept + kept_);  // those that cannot be inverted
  return rounded * (1 + std::ldexp(n, -22)) + of_sums + of_tiny_scales;
}

void LogitScreen::best(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int32_t first,
                       BestLogits& best) const {
  const auto row_of = [&](size_t row) { return x.data<float>() + static_cast<int64_t>(row) * x.stride(0); };
  const double largest_bias = largest_finite(bias);
  std::vector<Candidates> rows;
  for (size_t row = 0; row < static_cast<size_t>(x.dim(0)); ++row) {
    rows.emplace_back(error_of(row_of(row), largest_bias));
  }
  rounded_.multiply_in_parts(x, bias, [&](int64_t first_row, int64_t column, const Tensor& part) {
    const int64_t skipped = std::clamp<int64_t>(first - column, 0, part.dim(1));
    for (int64_t i = 0; i < part.dim(0); ++i) {
      rows[static_cast<size_t>(first_row + i)].take(part.data<float>() + i * part.stride(0) + skipped,
                                                    part.dim(1) - skipped, static_cast<int32_t>(column + skipped));
    }
  });
  best.resize(x.dim(0), first + 1);
  std::vector<float> logits(static_cast<size_t>(first) + 1);
  std::vector<int32_t> ids(logits.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].can_tell()) {
      Tensor all = Tensor::empty({1, matrix.columns()});  // [1, V]
      matrix.multiply(x.rows(static_cast<int64_t>(row), static_cast<int64_t>(row) + 1), {bias, Activation::kNone}, all);
      best.take_row(row, all.span<float>(), {});
      continue;
    }
    const auto exact = [&](int32_t id) { return matrix.multiply_column(row_of(row), bias, id); };
    for (int32_t id = 0; id < first; ++id) {
      ids[static_cast<size_t>(id)] = id;
      logits[static_cast<size_t>(id)] = exact(id);
    }
    const Candidate largest = rows[row].largest(exact);
    ids.back() = largest.id;
    logits.back() = largest.logit;
    best.take_row(row, logits, ids);
  }
}

}  // namespace dragoman::kernels
