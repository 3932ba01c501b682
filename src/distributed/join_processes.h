#pragma once

#include <memory>

#include "distributed/process_group.h"

namespace dragoman::distributed {

/// The group that this process was started in: by mpirun one over MPI, else a process alone. MPI is not touched
/// when mpirun did not start this process.
/// Throws Error(kUsage) when mpirun started several and this build has no MPI: "train: mpirun started 4 processes, but
/// this dragoman was built without MPI; ..."; Error(kRuntime) when they do not come together.
std::unique_ptr<ProcessGroup> join_processes(const JoinOptions& options);

}  // namespace dragoman::distributed
