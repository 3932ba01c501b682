#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace dragoman::tensor {

/// The sizes of a tensor's axes, outermost first. At most kMaxRank axes; rank 0 is a scalar.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  /// Throws Error: "shape: 5 axes given, at most 4 supported" or "shape: axis 1 is -3, must be >= 0", and when
  /// the number of elements does not fit 63 bits.
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  /// Number of elements; 1 for a scalar.
  int64_t size() const;
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  /// "[3, 512]".
  std::string to_string() const;
  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

}  // namespace dragoman::tensor

/// Shapes go into messages as they are, and become text only when the message is needed.
template <>
struct fmt::formatter<dragoman::tensor::Shape> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const dragoman::tensor::Shape& shape, Context& context) const {
    return fmt::formatter<std::string>::format(shape.to_string(), context);
  }
};
