#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// The `size` largest numbers so far in falling order, equal ones as they came, each with its id.
struct FallingList {
  int size;
  float* values;
  int32_t* ids;

  float last() const { return values[size - 1]; }

  /// Puts (value, id) into its place, behind equals; the last entry drops out.
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

/// Inserts those of row[begin .. n), in their order, that are larger than the last of the list by then. NaN is not.
/// @param first_id  the id of row[0]
void insert_larger(const float* row, int64_t begin, int64_t n, int32_t first_id, const FallingList& list);

/// A number that at least k of the row are not below; -infinity where none is found quickly.
float floor_of_largest(const float* row, int64_t n, int k);

/// The largest element; -infinity for none. NaN may or may not be passed over.
float largest_of(const float* row, int64_t n);

/// sum_j exp(row[j] - shift), added up in a fixed order.
float sum_of_exponentials(const float* row, int64_t n, float shift);

}  // namespace dragoman::kernels
