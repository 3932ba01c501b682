#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace dragoman::python {

/// Makes base::Error an exception of the module dragoman.errors, by its kind and the reason that the system gave.
void translate_errors();

/// Returns: the Python exception of an error, for callbacks of the library. Requires: the GIL is held.
nanobind::object exception_of(const std::exception_ptr& error);

}  // namespace dragoman::python
