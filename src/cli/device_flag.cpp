#include "cli/device_flag.h"

#include "distributed/join_processes.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/device_name.h"

namespace dragoman::cli {
namespace {

// The number after "cuda" or "cuda:"; empty for another device.
std::optional<int> number_of(const std::string& device) {
  return kernels::cuda::gpu_number(device, "--device", distributed::rank_on_this_machine());
}

}  // namespace

void add_device_flag(CLI::App& command, std::string& device) {
  command
      .add_option("--device", device,
                  "Where to compute: cpu, cuda (the first GPU; under mpirun a process a GPU), cuda:N, or auto (a GPU "
                  "if there is one)")
      ->type_name("DEVICE");
}

bool is_gpu(const std::string& device) {
  return number_of(device).has_value();
}

DeviceChoice::DeviceChoice(const std::string& device) {
  if (const std::optional<int> number = number_of(device)) {
    memory_.emplace(kernels::cuda::open_device(*number));
  }
}

}  // namespace dragoman::cli
