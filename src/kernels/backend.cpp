#include "kernels/backend.h"

#include "base/error.h"

namespace dragoman::kernels {

void Backend::multiply_int8(const Tensor&, std::span<const Int8Product>) const {
  base::fail(base::ErrorKind::kRuntime, "{}: multiply_int8 does not exist; use a PackedMatrix", name());
}

void Backend::gather_int8_rows(const Int8Weight&, const Tensor&, float, Tensor&) const {
  base::fail(base::ErrorKind::kRuntime, "{}: gather_int8_rows does not exist; use a PackedMatrix", name());
}

void Backend::attention_over_cache(const Tensor&, const CachedHistories&, int, Tensor&, Tensor*) const {
  base::fail(base::ErrorKind::kRuntime, "{}: attention_over_cache does not exist; use attention_step", name());
}

std::function<void()> Backend::record(const std::function<void()>& work) const {
  work();
  return {};
}

}  // namespace dragoman::kernels
