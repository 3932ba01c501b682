#pragma once

#include <nanobind/nanobind.h>

namespace dragoman::python {

/// The parts of the module dragoman._dragoman.
void bind_translator(nanobind::module_& module);
void bind_generator(nanobind::module_& module);
void bind_encoder(nanobind::module_& module);
void bind_tools(nanobind::module_& module);
void bind_trainer(nanobind::module_& module);
void bind_tensor(nanobind::module_& module);
void bind_ops(nanobind::module_& module);
void bind_layers(nanobind::module_& module);

}  // namespace dragoman::python
