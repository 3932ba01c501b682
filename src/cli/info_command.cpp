#include <fmt/format.h>

#include <algorithm>

#include "base/cpu.h"
#include "cli/command.h"
#include "cli/text_output.h"
#include "ops/precision.h"
#include "training/product_speed.h"
#include "training/throughput.h"

namespace dragoman::cli {
namespace {

constexpr int64_t kRows = 512;     // tokens of each worker
constexpr double kSeconds = 0.05;  // spent on each product

// Slowest to fastest product of the base model, GFLOP/s of all cores together.
std::string product_speed(ops::Precision precision) {
  const auto products =
      training::measure_products(training::benchmark_shape("base"), kRows, {base::cpu_count(), precision}, kSeconds);
  const auto [slowest, fastest] = std::ranges::minmax_element(products, {}, &training::ProductSpeed::gflops_per_second);
  return fmt::format("{:.0f} to {:.0f} GFLOP/s in {} (products of the base model, {} rows a core)",
                     slowest->gflops_per_second, fastest->gflops_per_second, ops::name_of(precision), kRows);
}

int print_info() {
  TextOutput out("-");
  out.write(fmt::format("dragoman {}\n", DRAGOMAN_VERSION));
  out.write(fmt::format("processor        {}\n", base::cpu_model_name()));
  out.write(fmt::format("cores            {}\n", base::cpu_count()));
  out.write(fmt::format("instruction set  {} (machine: {})\n", base::isa_name(base::active_isa()),
                        base::isa_name(base::machine_isa())));
  for (const ops::Precision precision : {ops::Precision::kFloat32, ops::Precision::kBFloat16}) {
    out.write(fmt::format("matrix products  {}\n", product_speed(precision)));
  }
  return 0;
}

}  // namespace

void add_info_command(CLI::App& app, Run& run) {
  CLI::App* command =
      add_command(app, "info", "Print what this machine offers: cores, instruction set, measured speed");
  command->callback([&run] { run = print_info; });
}

}  // namespace dragoman::cli
