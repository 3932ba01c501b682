#pragma once

#include <functional>

#include "autograd/variable.h"

namespace dragoman::autograd {

/// Trades time for memory (gradient checkpointing: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost",
/// section 3). Computes `part` now and keeps its value, but nothing that its ops saved; when the gradient of that value
/// arrives, computes `part` again, recorded on a tape of its own, and walks that tape.
/// The gradients are those of the same ops recorded directly, bit for bit: variables that `part` uses from outside get
/// theirs in the same order. Parts may be nested; each level of nesting is one call deep, however long the tape is.
/// @param name  for messages
/// @param part  must compute the same both times, and must own what it refers to: it lives until the backward.
/// Without an active tape this is `part()`.
[[nodiscard]] Variable recompute(const char* name, std::function<Variable()> part);

}  // namespace dragoman::autograd
