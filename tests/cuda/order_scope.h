#pragma once

#include "kernels/cuda/emulation.h"

namespace dragoman::test_support {

/// While alive, the emulation runs blocks and threads in these orders.
class [[nodiscard]] OrderScope {
 public:
  using Order = kernels::cuda::emulation::Order;

  OrderScope(Order blocks, Order threads) { kernels::cuda::emulation::set_order(blocks, threads); }
  ~OrderScope() { kernels::cuda::emulation::set_order(Order::kRising, Order::kRising); }
  OrderScope(const OrderScope&) = delete;
  OrderScope& operator=(const OrderScope&) = delete;
};

}  // namespace dragoman::test_support
