#pragma once

#include <span>

#include "tensor/tensor.h"

namespace dragoman::kernels {

/// Messages between the devices of several processes, from device memory to device memory. An exchange runs beside the
/// kernels of its process.
/// Requires: all processes of the group begin the same exchanges in the same order: what one sends, the other receives.
/// Threads: one at a time.
class DeviceMessages {
 public:
  /// What another process gets, or sends.
  struct Piece {
    int rank;               ///< of the other process
    tensor::Tensor values;  ///< [n] float32, contiguous, on the device of this process
  };

  DeviceMessages() = default;
  virtual ~DeviceMessages() = default;
  DeviceMessages(const DeviceMessages&) = delete;
  DeviceMessages& operator=(const DeviceMessages&) = delete;

  /// Begins to send and to receive once the kernels queued so far have run. Until end_exchanges no kernel may write
  /// what is sent, or use what is received.
  virtual void begin_exchange(std::span<const Piece> sent, std::span<const Piece> received) = 0;
  /// Kernels queued from now on run after all exchanges begun so far.
  virtual void end_exchanges() = 0;
};

}  // namespace dragoman::kernels
