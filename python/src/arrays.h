#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace dragoman::python {

namespace nb = nanobind;

/// Returns: an array of NumPy with the memory of `values`, which is not copied.
template <typename T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values, std::initializer_list<size_t> shape) {
  auto* held = new std::vector<T>(std::move(values));
  const nb::capsule owner(held, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return nb::ndarray<nb::numpy, T>(held->data(), shape, owner);
}

}  // namespace dragoman::python
