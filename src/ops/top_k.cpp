#include "ops/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/top_k_cpu.h"

namespace dragoman::ops {
namespace {

// Puts (value, id) into its place in the falling list, behind equals; the last entry drops out.
void insert(float value, int32_t id, int size, float* values, int32_t* ids) {
  int place = size - 1;
  for (; place > 0 && values[place - 1] < value; --place) {
    values[place] = values[place - 1];
    ids[place] = ids[place - 1];
  }
  values[place] = value;
  ids[place] = id;
}

}  // namespace

void top_k(const float* row, int64_t n, int k, float* values, int32_t* ids) {
  base::check_argument(1 <= k && k <= n, "top_k: k is {}, must be in [1, {}]", k, n);
  const auto comparable = [&](int64_t index) {
    return std::isnan(row[index]) ? -std::numeric_limits<float>::infinity() : row[index];
  };
  for (int size = 1; size <= k; ++size) {
    values[size - 1] = -std::numeric_limits<float>::infinity();
    insert(comparable(size - 1), size - 1, size, values, ids);
  }
  for (int64_t at = first_above(row, k, n, values[k - 1]); at < n; at = first_above(row, at + 1, n, values[k - 1])) {
    insert(row[at], static_cast<int32_t>(at), k, values, ids);
  }
}

int32_t argmax(const float* row, int64_t n) {
  base::check_argument(n >= 1, "argmax: the row is empty, must have elements");
  float value = 0;
  int32_t id = 0;
  top_k(row, n, 1, &value, &id);
  return id;
}

}  // namespace dragoman::ops
