#include "kernels/cpu/simd/simd.h"

#include <hwy/highway.h>

#include "base/cpu.h"

namespace dragoman::kernels {
namespace {

bool disable_targets_above_cap() {
#if HWY_ARCH_X86
  if (base::active_isa() < base::Isa::kAvx512) {
    hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  }
#endif
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return true;
}

}  // namespace

void obey_isa_cap() {
  static const bool done = disable_targets_above_cap();
  static_cast<void>(done);
}

}  // namespace dragoman::kernels
