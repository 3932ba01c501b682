#include "cli/benchmark_options.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/memory.h"
#include "cli/device_flag.h"
#include "cli/version.h"

namespace dragoman::cli {

kernels::Precision decoding_precision(const BenchmarkOptions& options) {
  return options.precision.value_or(is_gpu(options.device) ? kernels::Precision::kBFloat16 : kernels::Precision::kInt8);
}

int decoding_workers(const BenchmarkOptions& options) {
  return options.workers == 0 && is_gpu(options.device) ? 1 : base::thread_count(options.workers);
}

nlohmann::json machine_json(int workers, kernels::Precision precision) {
  return {{"dragoman", version_number()},
          {"processor", base::cpu_model_name()},
          {"cores", base::cpu_count()},
          {"isa", base::isa_name(base::active_isa())},
          {"machine_isa", base::isa_name(base::machine_isa())},
          {"compiler", __VERSION__},
          {"build", build_type()},
          {"workers", workers},
          {"precision", kernels::name_of(precision)}};
}

void print_machine(int workers, kernels::Precision precision) {
  fmt::print("machine      {}, {} cores, instruction set {} (machine: {})\n", base::cpu_model_name(), base::cpu_count(),
             base::isa_name(base::active_isa()), base::isa_name(base::machine_isa()));
  fmt::print("program      dragoman {}, compiler {}, {} build, {} workers, {} products\n", version_number(),
             __VERSION__, build_type(), workers, kernels::name_of(precision));
}

uint64_t peak_mib() {
  return base::peak_resident_memory() >> 20;
}

nlohmann::json throughput_json(const training::ProcessOptions& workers, const benchmark::Throughput& measured) {
  nlohmann::json row = machine_json(workers.workers, workers.precision);
  row["parameters"] = measured.parameters;
  row["target_tokens"] = measured.target_tokens;
  row["step_seconds"] = measured.step_seconds;
  row["tokens_per_second"] = measured.tokens_per_second();
  row["gflops_per_second"] = measured.gflops_per_second();
  row["peak_mib"] = peak_mib();
  return row;
}

}  // namespace dragoman::cli
