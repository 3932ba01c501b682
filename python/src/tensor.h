#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "autograd/variable.h"

namespace dragoman::python {

namespace nb = nanobind;
using autograd::Variable;
using tensor::Tensor;

/// An array in host memory, contiguous by rows, of any library.
using Array = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// Returns: a tensor with the memory of the array, which it keeps alive.
/// Throws: Error(kUsage) for an array that is read-only or of another dtype, "tensor: the array has dtype int64, must
/// be float32, float64, int32 or bool".
Tensor view_of(Array array);

/// Returns: an array of NumPy with the memory of a tensor.
nb::ndarray<nb::numpy> numpy_of(const Tensor& tensor);

/// Returns: the shape of a call. Throws: Error(kUsage) for more than four axes.
tensor::Shape shape_of(const std::vector<int64_t>& dims);

}  // namespace dragoman::python
