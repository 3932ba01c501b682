#pragma once

#include <functional>

#include "autograd/variable.h"

namespace dragoman::autograd {

/// Trades time for memory: gradient checkpointing. Computes `part` now and keeps its value, but frees what its ops
/// saved. When the gradient of the value arrives, computes `part` again, recorded on a separate tape, and walks that
/// tape. The gradients have the bits of the same ops recorded directly. Variables from outside collect their gradients
/// in the same order. Parts may be nested. Each level of nesting is one call deep, for tapes of any length. Without an
/// active tape this returns `part()`.
/// @param name  of the node on the tape
/// Requires: `part` computes the same value both times, and owns its captures, since it lives until the backward.
/// Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost", section 3.
[[nodiscard]] Variable recompute(const char* name, std::function<Variable()> part);

}  // namespace dragoman::autograd
