#pragma once

#include "base/worker_pool.h"

namespace dragoman::kernels {

/// While alive, the threads of `team` share the products with packed matrices of this thread, and its attention to
/// cached keys. Each thread computes some of the columns, rows or heads, so that several cores translate one sentence.
/// Bits do not change.
/// @param team  null or of size 1: nothing is shared
/// Threads: one thread at a time may use a team.
class [[nodiscard]] TeamScope {
 public:
  explicit TeamScope(base::WorkerPool* team);
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

  /// Returns: the team of the innermost scope of this thread; null if there is none.
  [[nodiscard]] static base::WorkerPool* current();

 private:
  base::WorkerPool* previous_;
};

}  // namespace dragoman::kernels
