// The emulation of a GPU itself, and that no kernel depends on the order of blocks or threads.
#include "kernels/cuda/emulation.h"

#include <gtest/gtest.h>

#include "cuda/attention_outcome.h"
#include "cuda/more_op_cases.h"
#include "cuda/order_scope.h"
#include "support/cuda_device.h"

namespace dragoman::kernels::cuda {
namespace {

using emulation::Order;
using test_support::OpOutcome;
using test_support::OrderScope;
using test_support::same_bits;

TEST(Emulation, ThreadsOfABlockMeetAtBarriers) {
  for (const Order order : {Order::kRising, Order::kFalling, Order::kShuffled}) {
    const OrderScope scope(Order::kRising, order);
    std::vector<int> numbers(100), reversed(100);
    emulation::run_grid("reverse", emulation::Index(1), 100, 0, [&] {
      const unsigned i = emulation::thread_index().x;
      numbers[i] = static_cast<int>(i);
      emulation::wait_for_block();
      reversed[i] = numbers[99 - i];
    });
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(reversed[static_cast<size_t>(i)], 99 - i);
    }
  }
}

TEST(Emulation, LanesExchangeValues) {
  std::vector<float> seen(64);
  emulation::run_grid("exchange", emulation::Index(1), 64, 0, [&] {
    const unsigned i = emulation::thread_index().x;
    float value = static_cast<float>(i);
    for (int lanes = 1; lanes < 32; lanes *= 2) {
      value += emulation::exchange_value(value, emulation::lane_of_thread() ^ lanes);
    }
    seen[i] = value;
  });
  EXPECT_EQ(seen[0], 31 * 16);
  EXPECT_EQ(seen[63], 31 * 16 + 32 * 32);
}

TEST(Emulation, EachBlockRunsOnceInAnyOrder) {
  for (const Order order : {Order::kRising, Order::kFalling, Order::kShuffled}) {
    const OrderScope scope(order, Order::kRising);
    std::vector<int> runs(24);
    emulation::run_grid("count", emulation::Index(2, 3, 4), 1, 0, [&] {
      const emulation::Index& block = emulation::block_index();
      ++runs[block.x + 2 * (block.y + 3 * block.z)];
    });
    EXPECT_EQ(runs, std::vector<int>(24, 1));
  }
}

TEST(EmulationDeathTest, AWarpWideCallThatLanesMissEndsTheProgram) {
  EXPECT_DEATH(emulation::run_grid("odd lanes", emulation::Index(1), 32, 0,
                                   [] {
                                     if (emulation::lane_of_thread() % 2 == 1) {
                                       emulation::wait_for_warp();
                                     }
                                   }),
               "kernel odd lanes: not all lanes of a warp reached a warp-wide call");
}

void expect_equal_in_all_orders(const std::vector<test_support::OpCase>& cases) {
  const test_support::OnCuda device;
  for (const test_support::OpCase& test : cases) {
    const OpOutcome expected = test_support::outcome_of(test);
    for (const Order order : {Order::kFalling, Order::kShuffled}) {
      const OrderScope scope(order, order);
      const OpOutcome seen = test_support::outcome_of(test);
      EXPECT_TRUE(same_bits(seen.value, expected.value)) << test.name;
      for (size_t input = 0; input < expected.gradients.size(); ++input) {
        EXPECT_TRUE(same_bits(seen.gradients[input], expected.gradients[input])) << test.name << ", input " << input;
      }
    }
  }
}

TEST(Emulation, NoOpDependsOnTheOrderOfBlocksOrThreads) {
  expect_equal_in_all_orders(test_support::all_cases());
  expect_equal_in_all_orders(test_support::more_cases());
}

TEST(Emulation, NoAttentionInBfloat16DependsOnTheOrderOfBlocksOrThreads) {
  const test_support::OnCuda device;
  for (const test_support::RowsCase& test : test_support::bfloat16_cases()) {
    if (test.options.dropout.probability == 0.0F) {
      continue;  // the code of the others is part of those with dropout
    }
    const test_support::RowsOutcome expected = outcome_of(test, DType::kBFloat16);
    const OrderScope scope(Order::kShuffled, Order::kShuffled);
    const test_support::RowsOutcome seen = outcome_of(test, DType::kBFloat16);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same_bits(seen[i], expected[i])) << test.name << ", result " << i;
    }
  }
}

}  // namespace
}  // namespace dragoman::kernels::cuda
