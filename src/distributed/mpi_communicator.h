#pragma once

#include <memory>

#include "distributed/process_group.h"

namespace dragoman::distributed {

/// Returns the group of the processes that mpirun has started (docs/decisions/mpi.md). One thread makes all calls of
/// MPI, so sums overlap the computation of the caller. Throws: Error as join_processes. A build without MPI always
/// throws.
[[nodiscard]] std::unique_ptr<ProcessGroup> make_mpi_communicator(const JoinOptions& options);

}  // namespace dragoman::distributed
