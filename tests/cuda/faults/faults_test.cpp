// Planted faults are found: by other bits in another order, by NaN, or by a message of the emulation.
#include <gmock/gmock.h>

#include <cmath>

#include "cuda/faults/fault_cases.h"
#include "cuda/order_scope.h"
#include "kernels/cuda/runtime.h"
#include "support/error_of.h"
#include "support/tensors.h"

namespace dragoman::kernels::cuda::faults {
namespace {

using emulation::Order;
using test_support::OrderScope;
using test_support::same_bits;

bool depends_on_order(Kernel kernel, Version version, Order blocks, Order threads) {
  const tensor::Tensor rising = outcome_of(kernel, version);
  const OrderScope scope(blocks, threads);
  return !same_bits(rising, outcome_of(kernel, version));
}

TEST(CudaFaults, AMissingBarrierGivesOtherBitsInAnotherOrderOfThreads) {
  for (const FaultCase& fault :
       {FaultCase{"before reading", reverse_blocks}, {"before writing again", use_shared_memory_again}}) {
    for (const Order order : {Order::kFalling, Order::kShuffled}) {
      EXPECT_TRUE(depends_on_order(fault.run, Version::kFaulty, Order::kRising, order)) << fault.name;
      EXPECT_FALSE(depends_on_order(fault.run, Version::kRight, Order::kRising, order)) << fault.name;
    }
  }
}

TEST(CudaFaults, ARaceOfBlocksGivesOtherBitsInAnotherOrderOfBlocks) {
  EXPECT_TRUE(depends_on_order(sum_blocks, Version::kFaulty, Order::kFalling, Order::kRising));
  EXPECT_FALSE(depends_on_order(sum_blocks, Version::kRight, Order::kFalling, Order::kRising));
}

TEST(CudaFaults, WhatIsNotWrittenIsNaN) {
  for (const FaultCase& fault : {FaultCase{"unwritten result", copy_all}, {"unwritten operand", add_to_nothing}}) {
    EXPECT_TRUE(std::isnan(outcome_of(fault.run, Version::kFaulty).data<float>()[kCount - 1])) << fault.name;
    EXPECT_EQ(outcome_of(fault.run, Version::kRight).data<float>()[kCount - 1], kCount) << fault.name;
  }
}

TEST(CudaFaults, MemoryThatIsUsedAgainIsNaN) {
  const test_support::OnCuda device;
  const void* first = nullptr;
  for (int round = 0; round < 2; ++round) {
    tensor::Tensor x = tensor::Tensor::empty({kCount});
    EXPECT_TRUE(std::isnan(tensor::to_host(x).data<float>()[0]));
    if (round == 0) {
      first = x.device_data();
      x.fill(1.0);
    } else {
      EXPECT_EQ(x.device_data(), first);
    }
  }
}

TEST(CudaFaultsDeathTest, WarpWideCallsThatTheirMasksForbidEndTheProgram) {
  expect_death_by(
      {"lanes that do not come", exchange_in_half_warps},
      "kernel exchange_halves: not all lanes of a warp reached a warp-wide call: its mask is ffffffff, lanes "
      "0000ffff came");
  expect_death_by({"a lane that is not named", take_from_neighbour},
                  "kernel take: lane 0 takes the value of lane 16, which the mask 0000ffff does not name");
}

TEST(CudaFaultsDeathTest, BarriersAtTwoPlacesEndTheProgram) {
  expect_death_by({"two barriers", wait_in_branches},
                  "kernel wait_apart: threads 0 and 32 wait at different barriers: .*faulty_kernels.cu:[0-9]+ and "
                  ".*faulty_kernels.cu:[0-9]+");
}

TEST(CudaFaultsDeathTest, APointerToTheHostsMemoryEndsTheProgram) {
  const std::vector<float> host(kCount);
  const test_support::OnCuda device;
  const tensor::Tensor y = tensor::Tensor::empty({kCount});
  EXPECT_DEATH(copy_all(Version::kRight, host.data(), static_cast<float*>(const_cast<void*>(y.device_data()))),
               "kernel copy: argument 1 points to no memory of the device");
}

TEST(CudaFaults, CopiesToTheHostsMemoryAreRefused) {
  std::vector<float> host(kCount), other(kCount);
  EXPECT_THAT(
      test_support::error_of([&] { copy_in(host.data(), sizeof(float), other.data()); }),
      testing::MatchesRegex("cuda: copy from the host: 0x[0-9a-f]+ is no memory of the device; give a tensor of "
                            "the device"));
}

TEST(CudaFaultsDeathTest, ABlockThatNoCardHasEndsTheProgram) {
  const auto run = [](unsigned threads, size_t shared) {
    emulation::run_grid("big", emulation::Index(1), threads, shared, [] {});
  };
  EXPECT_DEATH(run(1025, 0), "kernel big: a block has 1 to 1024 threads and at most 227 KiB of shared memory");
  EXPECT_DEATH(run(1024, (size_t{227} << 10) + 1), "at most 227 KiB");
  run(1024, size_t{227} << 10);
}

}  // namespace
}  // namespace dragoman::kernels::cuda::faults
