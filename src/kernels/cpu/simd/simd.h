#pragma once

namespace dragoman::kernels {

/// Makes Highway obey base::active_isa() (and so DRAGOMAN_ISA). Cheap after the first call; safe from any thread.
void obey_isa_cap();

}  // namespace dragoman::kernels

/// Expands to HWY_DYNAMIC_DISPATCH under the cap of base::active_isa(). All kernels are called through this macro:
/// `DRAGOMAN_DISPATCH(softmax_rows)(x, rows, columns)` after `HWY_EXPORT(softmax_rows)`.
#define DRAGOMAN_DISPATCH(function) (::dragoman::kernels::obey_isa_cap(), HWY_DYNAMIC_DISPATCH(function))
