#include <fmt/core.h>

#include "base/cpu.h"
#include "cli/command.h"

namespace dragoman::cli {
namespace {

int print_info() {
  fmt::print("dragoman {}\n", DRAGOMAN_VERSION);
  fmt::print("processor        {}\n", base::cpu_model_name());
  fmt::print("cores            {}\n", base::cpu_count());
  fmt::print("instruction set  {} (machine: {})\n", base::isa_name(base::active_isa()),
             base::isa_name(base::machine_isa()));
  return 0;
}

}  // namespace

void add_info_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "info", "Print what this machine offers: cores, instruction set");
  command->callback([&run] { run = print_info; });
}

}  // namespace dragoman::cli
