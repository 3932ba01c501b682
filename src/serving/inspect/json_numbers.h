#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tensor/tensor.h"

namespace dragoman::serving {

/// `value` rounded to 6 significant decimal digits, which is what the page shows and a float32 nearly holds; null when
/// it is not finite, since JSON has no such number.
nlohmann::json rounded(double value);

/// Turns tensors into JSON and counts their numbers, so that one reply stays bounded.
class NumberWriter {
 public:
  explicit NumberWriter(int64_t max_numbers) : left_(max_numbers), max_(max_numbers) {}

  /// {"shape": [T, S], "values": [...]}: row-major, rounded.
  /// Throws Error(kUsage) once the reply would hold more than max_numbers: "inspect: the parts asked for hold more than
  /// 600000 numbers; ask for fewer at a time".
  nlohmann::json tensor(const tensor::Tensor& values);
  /// Counts numbers that are written elsewhere.
  void take(int64_t numbers);

 private:
  int64_t left_;
  int64_t max_;
};

}  // namespace dragoman::serving
