#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/faults/faulty_kernels.h"
#include "support/cuda_device.h"
#include "tensor/transfer.h"

namespace dragoman::kernels::cuda::faults {

using Kernel = void (*)(Version, const float*, float*);

struct FaultCase {
  std::string name;
  Kernel run;
};

/// Returns: y [kCount] of a kernel in new memory of the device, for x = 1, 2, 3, ...
inline tensor::Tensor outcome_of(Kernel kernel, Version version) {
  const test_support::OnCuda device;
  std::vector<float> numbers(kCount);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i + 1);
  }
  const tensor::Tensor x = tensor::Tensor::from(numbers, {kCount}), y = tensor::Tensor::empty({kCount});
  kernel(version, static_cast<const float*>(x.device_data()), static_cast<float*>(const_cast<void*>(y.device_data())));
  return tensor::to_host(y);
}

/// Shows that the faulty version ends the program with a message, and that the right one does not.
inline void expect_death_by(const FaultCase& fault, const std::string& message) {
  EXPECT_DEATH((void)outcome_of(fault.run, Version::kFaulty), message) << fault.name;
  (void)outcome_of(fault.run, Version::kRight);
}

}  // namespace dragoman::kernels::cuda::faults
