#include "distributed/join_processes.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "distributed/mpi_communicator.h"

namespace dragoman::distributed {
namespace {

// Set by Open MPI's mpirun, and by other launchers that speak PMIx (srun --mpi=pmix), for every process they start.
bool was_started_in_a_group() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size != nullptr ? std::atoi(size) > 1 : std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

int rank_on_this_machine() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
    if (const char* rank = std::getenv(variable)) {
      return std::max(0, std::atoi(rank));
    }
  }
  return 0;
}

std::unique_ptr<ProcessGroup> join_processes(const JoinOptions& options) {
  base::check_range("rank_timeout", options.timeout_seconds, 1.0, 3600.0);
  if (!was_started_in_a_group()) {
    return std::make_unique<SingleProcess>();
  }
  return make_mpi_communicator(options);
}

}  // namespace dragoman::distributed
