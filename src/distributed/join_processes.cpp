#include "distributed/join_processes.h"

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

std::unique_ptr<ProcessGroup> join_processes(const JoinOptions& options) {
  base::check_range("rank_timeout", options.timeout_seconds, 1.0, 3600.0);
  if (!was_started_in_a_group()) {
    return std::make_unique<SingleProcess>();
  }
  return make_mpi_communicator(options);
}

}  // namespace dragoman::distributed
