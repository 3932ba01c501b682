#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// Finds the k largest numbers of a row, in falling order. Equal numbers stand in the order of their index.
/// @param row  n float32;  @param k  in [1, n];  @param values, ids  k entries each, overwritten
/// NaN counts as smaller than any number. Complexity: one pass; most of the row costs one vector comparison.
/// Throws: Error, "top_k: k is 5, must be in [1, 4]".
void top_k(const float* row, int64_t n, int k, float* values, int32_t* ids);

/// Returns: the index of the largest number, the lowest index if several are equal. Throws: Error for an empty row.
int32_t argmax(const float* row, int64_t n);

/// Returns: log sum_j exp(row[j]), shifted by the largest number so that it never overflows. The result is -infinity
/// for n = 0 or a row of -infinity, and NaN if an element is NaN or +infinity. It equals RowSummary::log_sum_exp, bit
/// for bit.
double log_sum_exp(const float* row, int64_t n);

/// Collects the k largest numbers of a row and its log-sum-exp from parts of the row. The parts arrive in the order of
/// their columns; each part but the last has kPartColumns. The bits are those of the whole row.
class RowSummary {
 public:
  /// @param k  at most the columns of the row;  @param values, ids  [k], as `top_k` fills them
  /// @param with_sum  false: the log-sum-exp is not computed, which saves most of the work; log_sum_exp() then returns
  /// the largest number
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
