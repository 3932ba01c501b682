#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// The k largest numbers of a row in falling order, equal numbers by rising index.
/// @param row  n float32;  @param k  in [1, n];  @param values, ids  k entries each, overwritten
/// NaN counts as smaller than everything. One pass: most of the row costs one vector comparison.
/// Throws Error: "top_k: k is 5, must be in [1, 4]".
void top_k(const float* row, int64_t n, int k, float* values, int32_t* ids);

/// Index of the largest number, the lowest of equals. n >= 1; throws Error for an empty row.
int32_t argmax(const float* row, int64_t n);

/// log sum_j exp(row[j]), shifted by the largest so that it never overflows; -infinity for n = 0 or a row of -infinity.
/// NaN if an element is NaN or +infinity. Equals that of a RowSummary, bit for bit.
double log_sum_exp(const float* row, int64_t n);

/// The k largest of a row and its log-sum-exp, taken from parts of the row as they are computed. The parts come in the
/// order of their columns, kPartColumns each but the last, so that the bits are those of the whole row.
class RowSummary {
 public:
  /// @param k  at most the columns of the row;  @param values, ids  [k], as `top_k` fills them
  /// @param with_sum  false: the log-sum-exp is not wanted, which saves most of the work; the largest stands for it
  void begin(int k, float* values, int32_t* ids, bool with_sum = true);
  /// @param part  n columns, the first of which is number `column`
  void take(const float* part, int64_t column, int64_t n);
  double log_sum_exp() const;

 private:
  int k_ = 0;
  bool with_sum_ = true;
  float* values_ = nullptr;
  int32_t* ids_ = nullptr;
  float shift_ = 0;  // the largest element so far
  double sum_ = 0;   // of exp(element - shift)
};

}  // namespace dragoman::kernels
