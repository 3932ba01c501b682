#include "cli/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "cli/commit.h"  // written by cmake/commit.cmake

namespace dragoman::cli {
namespace {

#if defined(__x86_64__)
constexpr base::Isa kInstructionSets[] = {base::Isa::kAvx2, base::Isa::kAvx512, base::Isa::kVnni, base::Isa::kBf16,
                                          base::Isa::kAmx};
#else
constexpr base::Isa kInstructionSets[] = {base::Isa::kNeon};
#endif

std::string compiler() {
#if defined(__clang__)
  return __VERSION__;  // "Clang 14.0.6"
#else
  return fmt::format("g++ {}", __VERSION__);
#endif
}

// A processor without any of the instruction sets can still be asked for the version.
std::string instruction_set_here() try { return base::isa_name(base::active_isa()); } catch (const base::Error& error) {
  return error.what();
}

}  // namespace

const char* version_number() {
  return DRAGOMAN_VERSION;
}

const char* build_type() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "sanitized";
#elif defined(NDEBUG) && defined(__OPTIMIZE__)
  return "release";
#else
  return "debug";
#endif
}

std::string version_text() {
  std::vector<std::string> sets;
  for (const base::Isa isa : kInstructionSets) {
    sets.emplace_back(base::isa_name(isa));
  }
  return fmt::format("dragoman {} (commit {})\ncompiler          {}, {} build\ninstruction sets  {}; here {}",
                     version_number(), DRAGOMAN_COMMIT, compiler(), build_type(), fmt::join(sets, ", "),
                     instruction_set_here());
}

}  // namespace dragoman::cli
