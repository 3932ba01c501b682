#pragma once

#include <string>

namespace dragoman::base {

/// The instruction sets that kernels are written for, each containing the ones before it.
enum class Isa {
  kAvx2,    ///< 256-bit float and FMA
  kAvx512,  ///< 512-bit float (F, BW, CD, DQ, VL)
  kVnni,    ///< + 8-bit dot products (AVX-512 VNNI)
  kBf16,    ///< + bfloat16 dot products (AVX-512 BF16)
  kAmx,     ///< + tile matrix products in bfloat16 and int8
};

const char* isa_name(Isa isa);

/// The best instruction set of this machine, not above the cap in the environment variable
/// DRAGOMAN_ISA=avx2|avx512|vnni|bf16|amx. Read once; every kernel dispatches on this value alone.
/// DRAGOMAN_ISA=amx-emulated is kAmx with amx_is_emulated() where the machine has at least kBf16, else no cap.
/// Throws Error(kUsage) for an unknown name, Error(kRuntime) on a processor without AVX2 and FMA.
Isa active_isa();

/// Whether kernels for AMX shall keep their tiles in memory: slow, for tests on machines without AMX.
bool amx_is_emulated();

/// The best instruction set of this machine, whatever the cap. Asks the system for the use of AMX's tile registers,
/// which Linux grants to a process that asks (5.16 or later).
Isa machine_isa();

/// "AMD EPYC ...", as the kernel reports it.
std::string cpu_model_name();

/// Processors this process may run on.
int cpu_count();

}  // namespace dragoman::base
