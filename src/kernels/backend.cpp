#include "kernels/backend.h"

#include "base/error.h"

namespace dragoman::kernels {

void Backend::attention_over_cache(const Tensor&, const CachedHistories&, int, Tensor&, Tensor*) const {
  base::fail(base::ErrorKind::kRuntime, "{}: attention_over_cache does not exist; use attention_step", name());
}

std::function<void()> Backend::record(const std::function<void()>& work) const {
  work();
  return {};
}

}  // namespace dragoman::kernels
