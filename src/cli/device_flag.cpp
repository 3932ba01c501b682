#include "cli/device_flag.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "distributed/join_processes.h"
#include "kernels/cuda/cuda_device.h"

namespace dragoman::cli {
namespace {

// The number after "cuda" or "cuda:"; empty for another device.
std::optional<int> gpu_number(std::string_view device) {
  if (device == "cpu" || (device == "auto" && !kernels::cuda::has_device())) {
    return std::nullopt;
  }
  if (device == "auto" || device == "cuda") {
    return distributed::rank_on_this_machine() % std::max(1, kernels::cuda::device_count());
  }
  constexpr std::string_view kPrefix = "cuda:";
  int number = 0;
  const char* const first = device.data() + std::min(kPrefix.size(), device.size());
  const char* const last = device.data() + device.size();
  const auto [end, error] = std::from_chars(first, last, number);
  base::check_usage(device.starts_with(kPrefix) && error == std::errc() && end == last && number >= 0,
                    "--device is \"{}\", must be auto, cpu, cuda or cuda:N", device);
  return number;
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
  return gpu_number(device).has_value();
}

DeviceChoice::DeviceChoice(const std::string& device) {
  if (const std::optional<int> number = gpu_number(device)) {
    memory_.emplace(kernels::cuda::open_device(*number));
  }
}

}  // namespace dragoman::cli
