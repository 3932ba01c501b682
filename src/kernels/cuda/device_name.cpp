#include "kernels/cuda/device_name.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "kernels/cuda/cuda_device.h"

namespace dragoman::kernels::cuda {

std::optional<int> gpu_number(std::string_view name, std::string_view option, int process) {
  if (name == "cpu" || (name == "auto" && !has_device())) {
    return std::nullopt;
  }
  if (name == "auto" || name == "cuda") {
    return process % std::max(1, device_count());
  }
  constexpr std::string_view kPrefix = "cuda:";
  int number = 0;
  const char* const first = name.data() + std::min(kPrefix.size(), name.size());
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(first, last, number);
  base::check_usage(name.starts_with(kPrefix) && error == std::errc() && end == last && number >= 0,
                    "{} is \"{}\", must be auto, cpu, cuda or cuda:N", option, name);
  return number;
}

tensor::Device open_named_device(std::string_view name, std::string_view option) {
  const std::optional<int> number = gpu_number(name, option);
  return number ? open_device(*number)->device() : tensor::Device();
}

}  // namespace dragoman::kernels::cuda
