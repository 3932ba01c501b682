#include <cstdlib>
#include <string>

#include "base/error.h"
#include "distributed/mpi_communicator.h"

namespace dragoman::distributed {

std::unique_ptr<ProcessGroup> make_mpi_communicator(const JoinOptions&) {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  base::fail(base::ErrorKind::kUsage,
             "train: mpirun started {} processes, but this dragoman was built without MPI; install libopenmpi-dev and "
             "openmpi-bin and build again, or start it without mpirun",
             size == nullptr ? "several" : size);
}

}  // namespace dragoman::distributed
