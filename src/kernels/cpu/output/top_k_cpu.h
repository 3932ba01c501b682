#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// Holds the `size` largest numbers so far in falling order, each with its id. Equal numbers stand in order of arrival.
struct FallingList {
  int size;
  float* values;
  int32_t* ids;

  float last() const { return values[size - 1]; }

  /// Inserts (value, id) behind equal values. The last entry is removed.
  void insert(float value, int32_t id) const {
    int place = size - 1;
    for (; place > 0 && values[place - 1] < value; --place) {
      values[place] = values[place - 1];
      ids[place] = ids[place - 1];
    }
    values[place] = value;
    ids[place] = id;
  }
};

/// Inserts each of row[begin .. n), in order, that is larger than the current last entry of the list. NaN is skipped.
/// @param first_id  the id of row[0]
void insert_larger(const float* row, int64_t begin, int64_t n, int32_t first_id, const FallingList& list);

/// Returns: a number such that at least k numbers of the row are not smaller; -infinity if none is found quickly.
float floor_of_largest(const float* row, int64_t n, int k);

/// Returns: the largest element; -infinity for an empty row. NaN may or may not be skipped.
float largest_of(const float* row, int64_t n);

/// Returns: sum_j exp(row[j] - shift), added in a fixed order.
float sum_of_exponentials(const float* row, int64_t n, float shift);

}  // namespace dragoman::kernels
