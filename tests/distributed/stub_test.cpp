// Linked with the stub that a build without MPI has, whatever this build has.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "distributed/join_processes.h"
#include "distributed/process_group.h"

namespace dragoman::distributed {
namespace {

TEST(MpiStub, SaysThatThisBuildHasNoMpi) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  try {
    static_cast<void>(join_processes({}));
    FAIL() << "no error came out";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("4 processes, but this dragoman was built without MPI"), std::string::npos)
        << error.what();
  }
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  EXPECT_EQ(join_processes({})->size(), 1) << "one process needs no MPI";
}

}  // namespace
}  // namespace dragoman::distributed
