#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// Selects the elements that an op drops. The mask is a pure function of these fields and of (row, column). The
/// backward generates it again instead of storing it. It does not depend on threads, devices or other rows of the
/// batch.
///   element (row r, column c) is kept iff u16 >= round(probability * 65536), where u16 is half-word c % 8 (low half of
///   each word first) of philox4x32 with counter {c / 8, first_row + r (mod 2^32), site, step} and key = seed (low,
///   high word). Kept values are multiplied by 65536 / (65536 - round(probability * 65536)).
/// Source: Srivastava et al. 2014, in the inverted form (scaled while training); Salmon et al. 2011 for Philox.
struct Dropout {
  float probability = 0;  ///< of dropping, in [0, 1); 0 = the op does nothing
  uint64_t seed = 0;      ///< of the whole run
  uint32_t step = 0;      ///< training step
  uint32_t site = 0;      ///< number of the place in the model
  int64_t first_row = 0;  ///< number of row 0 in the whole batch, for parts of a batch
  /// Null, or one element in the memory of a device, whose kernels read the low 31 bits of the step there: what was
  /// recorded (Backend::record) runs again in later steps. The highest bit is that of `step`. Not for the host.
  const uint32_t* step_on_device = nullptr;
};

/// Throws: Error unless the probability is in [0, 1): "dropout: probability is 1.5, must be in [0, 1)". `op` starts the
/// message.
void check_dropout(const Dropout& dropout, const char* op);

}  // namespace dragoman::kernels
