#include "tensor/shape.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace dragoman::tensor {

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  base::check_argument(dims.size() <= kMaxRank, "shape: {} axes given, at most {} supported", dims.size(), kMaxRank);
  int64_t elements = 1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    base::check_argument(dims[axis] >= 0, "shape: axis {} is {}, must be >= 0", axis, dims[axis]);
    dims_[axis] = dims[axis];
    base::check_argument(!__builtin_mul_overflow(elements, std::max<int64_t>(dims[axis], 1), &elements),
                         "shape: {} has more than 2^63 elements", *this);  // text is made only then
  }
}

int64_t Shape::size() const {
  int64_t elements = 1;
  for (const int64_t dim : dims()) {
    elements *= dim;
  }
  return elements;
}

std::string Shape::to_string() const {
  return fmt::format("[{}]", fmt::join(dims(), ", "));
}

bool Shape::operator==(const Shape& other) const {
  return std::ranges::equal(dims(), other.dims());
}

}  // namespace dragoman::tensor
