#pragma once

#include <string>

namespace dragoman::base {

/// The instruction sets that kernels are written for, each containing the ones before it. A program for x86-64 never
/// has kNeon, one for 64-bit ARM nothing else.
enum class Isa {
  kNeon,    ///< 128-bit float and FMA of 64-bit ARM
  kAvx2,    ///< 256-bit float and FMA
  kAvx512,  ///< 512-bit float (F, BW, CD, DQ, VL)
  kVnni,    ///< + 8-bit dot products (AVX-512 VNNI)
  kBf16,    ///< + bfloat16 dot products (AVX-512 BF16)
  kAmx,     ///< + tile matrix products in bfloat16 and int8
};

/// Returns the name of an instruction set, as DRAGOMAN_ISA writes it: "avx512".
const char* isa_name(Isa isa);

/// Returns the best instruction set of this machine, up to the cap in the environment variable
/// DRAGOMAN_ISA=avx2|avx512|vnni|bf16|amx (on ARM: neon). The variable is read once. Every kernel dispatches on this
/// value alone. DRAGOMAN_ISA=amx-emulated selects kAmx and amx_is_emulated() if the machine has at least kBf16;
/// otherwise it is no cap. Throws: Error(kUsage) for an unknown name; Error(kRuntime) on an x86-64 processor without
/// AVX2 and FMA.
Isa active_isa();

/// Returns true if kernels for AMX must keep their tiles in memory. This is slow and serves tests on machines without
/// AMX.
bool amx_is_emulated();

/// Returns the best instruction set of this machine without the cap. Requests the tile registers of AMX from the
/// system; Linux 5.16 and later grant them to a process on request.
Isa machine_isa();

/// Returns the name of the processor as the Linux kernel reports it: "AMD EPYC ...".
std::string cpu_model_name();

/// Returns the number of processors that this process may run on.
int cpu_count();

/// Returns: `asked`, or one thread a processor where it is 0.
int thread_count(int asked);

}  // namespace dragoman::base
