#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tensor/tensor.h"

namespace dragoman::serving {

/// Returns `value` rounded to 6 significant decimal digits; a float32 has about 7. Null for a value that is not finite,
/// since JSON has no such number.
[[nodiscard]] nlohmann::json rounded(double value);

/// Turns tensors into JSON and counts their numbers, so that the size of a reply is bounded.
class NumberWriter {
 public:
  explicit NumberWriter(int64_t max_numbers) : left_(max_numbers), max_(max_numbers) {}

  /// Returns {"shape": [T, S], "values": [...]}, row by row, rounded.
  /// Throws: Error(kUsage) if the reply would hold more than max_numbers: "inspect: the parts asked for hold more than
  ///         600000 numbers; ask for fewer at a time".
  [[nodiscard]] nlohmann::json tensor(const tensor::Tensor& values);
  /// Counts numbers that the caller writes itself. Throws: as `tensor`.
  void count(int64_t numbers);

 private:
  int64_t left_;
  int64_t max_;
};

}  // namespace dragoman::serving
