#pragma once

#include <memory>

#include "distributed/process_group.h"

namespace dragoman::distributed {

/// The processes that mpirun started, over MPI (docs/decisions/mpi.md). A thread of its own makes all calls of MPI, so
/// sums go on while the caller computes. Throws Error as join_processes does. In a build without MPI there is nothing
/// behind it but the error that says so.
std::unique_ptr<ProcessGroup> make_mpi_communicator(const JoinOptions& options);

}  // namespace dragoman::distributed
