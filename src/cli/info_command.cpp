#include <fmt/format.h>

#include <algorithm>

#include "base/cpu.h"
#include "benchmark/product_speed.h"
#include "benchmark/throughput.h"
#include "cli/command.h"
#include "cli/text_output.h"
#include "cli/version.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/precision.h"

namespace dragoman::cli {
namespace {

constexpr int64_t kRows = 512;     // tokens of each worker
constexpr double kSeconds = 0.05;  // spent on each product

// Slowest to fastest product of the base model, GFLOP/s of all cores together.
std::string product_speed(kernels::Precision precision) {
  const auto products =
      benchmark::measure_products(benchmark::benchmark_shape("base"), kRows, {base::cpu_count(), precision}, kSeconds);
  const auto [slowest, fastest] =
      std::ranges::minmax_element(products, {}, &benchmark::ProductSpeed::gflops_per_second);
  return fmt::format("{:.0f} to {:.0f} GFLOP/s in {} (products of the base model, {} rows a core)",
                     slowest->gflops_per_second, fastest->gflops_per_second, kernels::name_of(precision), kRows);
}

int print_info() {
  TextOutput out("-");
  out.write(fmt::format("dragoman {}\n", version_number()));
  out.write(fmt::format("processor        {}\n", base::cpu_model_name()));
  out.write(fmt::format("cores            {}\n", base::cpu_count()));
  out.write(fmt::format("instruction set  {} (machine: {})\n", base::isa_name(base::active_isa()),
                        base::isa_name(base::machine_isa())));
  for (const std::string& line : kernels::cuda::describe_devices()) {
    out.write(fmt::format("GPU              {}\n", line));
  }
  for (const kernels::Precision precision : {kernels::Precision::kFloat32, kernels::Precision::kBFloat16}) {
    out.write(fmt::format("matrix products  {}\n", product_speed(precision)));
  }
  return 0;
}

}  // namespace

void add_info_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "info", "Print what this machine offers: cores, instruction set, measured speed",
                                  "dragoman info");
  command->callback([&run] { run = print_info; });
}

}  // namespace dragoman::cli
