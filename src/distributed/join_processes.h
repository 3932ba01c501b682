#pragma once

#include <memory>

#include "distributed/process_group.h"

namespace dragoman::distributed {

/// Returns the group of this process: the processes of mpirun, connected by MPI, or otherwise a single process. MPI is
/// used only if mpirun has started this process. Throws: Error(kUsage) if mpirun has started several processes and this
/// build has no MPI, "train: mpirun started 4 processes, but this dragoman was built without MPI; ..."; Error(kRuntime)
/// if the processes cannot connect.
[[nodiscard]] std::unique_ptr<ProcessGroup> join_processes(const JoinOptions& options);

/// Returns: the number of this process among those that the launcher (mpirun, srun) has started on this machine, from
/// 0; 0 without a launcher. Available before the processes have joined.
[[nodiscard]] int rank_on_this_machine();

}  // namespace dragoman::distributed
