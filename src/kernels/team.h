#pragma once

#include "base/worker_pool.h"

namespace dragoman::kernels {

/// While alive, products with packed matrices that this thread asks for are shared out over the threads of `team`, each
/// computing some of the columns: how several cores translate one sentence. Bits do not change.
/// @param team  null or of size 1: nothing is shared; used by one thread at a time
class [[nodiscard]] TeamScope {
 public:
  explicit TeamScope(base::WorkerPool* team);
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

  /// The team of the innermost scope of this thread, null when it works alone.
  [[nodiscard]] static base::WorkerPool* current();

 private:
  base::WorkerPool* previous_;
};

}  // namespace dragoman::kernels
