#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/error.h"

namespace dragoman::base {
namespace {

#if defined(__x86_64__)

constexpr Isa kKnown[] = {Isa::kAvx2, Isa::kAvx512, Isa::kVnni, Isa::kBf16, Isa::kAmx};
constexpr const char* kCaps = "avx2, avx512, vnni, bf16, amx or amx-emulated";

bool has_amx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) {
    return false;
  }
  const bool tile = (edx >> 24) & 1, int8 = (edx >> 25) & 1, bf16 = (edx >> 22) & 1;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // of arch_prctl(2)
  return tile && int8 && bf16 && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

Isa detect() {
  check(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), ErrorKind::kRuntime,
        "this processor ({}) has no AVX2 and FMA; dragoman needs an x86-64 processor of 2013 or later",
        cpu_model_name());
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (!avx512) {
    return Isa::kAvx2;
  }
  if (!__builtin_cpu_supports("avx512vnni")) {
    return Isa::kAvx512;
  }
  if (!__builtin_cpu_supports("avx512bf16")) {
    return Isa::kVnni;
  }
  return has_amx() ? Isa::kAmx : Isa::kBf16;
}

#else

constexpr Isa kKnown[] = {Isa::kNeon};
constexpr const char* kCaps = "neon";

Isa detect() {
  return Isa::kNeon;
}

#endif

constexpr std::string_view kEmulated = "amx-emulated";

std::string_view asked_cap() {
  const char* text = std::getenv("DRAGOMAN_ISA");
  return text == nullptr ? "" : text;
}

Isa capped() {
  const std::string_view cap = asked_cap();
  const Isa best = machine_isa();
  if (cap.empty()) {
    return best;
  }
  if (cap == kEmulated) {
    return best >= Isa::kBf16 ? Isa::kAmx : best;
  }
  for (const Isa isa : kKnown) {
    if (cap == isa_name(isa)) {
      return isa < best ? isa : best;
    }
  }
  fail(ErrorKind::kUsage, "DRAGOMAN_ISA={}: unknown instruction set; use {}", cap, kCaps);
}

}  // namespace

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kNeon:
      return "neon";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kVnni:
      return "vnni";
    case Isa::kBf16:
      return "bf16";
    case Isa::kAmx:
      return "amx";
  }
  return "unknown";
}

Isa machine_isa() {
  static const Isa isa = detect();
  return isa;
}

Isa active_isa() {
  static const Isa isa = capped();
  return isa;
}

bool amx_is_emulated() {
  static const bool emulated = asked_cap() == kEmulated && active_isa() == Isa::kAmx;
  return emulated;
}

std::string cpu_model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) {
      const size_t colon = line.find(": ");
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

int cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

int thread_count(int asked) {
  return asked > 0 ? asked : cpu_count();
}

}  // namespace dragoman::base
