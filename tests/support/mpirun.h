#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/background_program.h"

namespace dragoman::test_support {

inline bool has_mpirun() {
  return std::system("mpirun --version >/dev/null 2>&1") == 0;
}

/// For mpirun as any user. MPI keeps memory to its end, so leaks are not looked for.
inline std::map<std::string, std::string> mpirun_environment() {
  return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"ASAN_OPTIONS", "detect_leaks=0"}};
}

/// A program running under mpirun on this machine, beside the test.
class RankRun : public BackgroundProgram {
 public:
  /// @param words  the program and its arguments
  RankRun(const std::filesystem::path& folder, int ranks, const std::vector<std::string>& words)
      : BackgroundProgram(folder, with_mpirun(ranks, words), mpirun_environment(), "mpirun") {}

  /// The process of a rank; -1 if there is none. Looks at children of mpirun alone.
  pid_t process_of(int rank) const {
    std::ifstream children(std::filesystem::path("/proc") / std::to_string(id()) / "task" / std::to_string(id()) /
                           "children");
    const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (pid_t child = 0; children >> child;) {
      std::ifstream environment("/proc/" + std::to_string(child) + "/environ", std::ios::binary);
      for (std::string variable; std::getline(environment, variable, '\0');) {
        if (variable == wanted) {
          return child;
        }
      }
    }
    return -1;
  }

 private:
  static std::vector<std::string> with_mpirun(int ranks, const std::vector<std::string>& words) {
    std::vector<std::string> all{"--oversubscribe", "--bind-to", "none", "-np", std::to_string(ranks)};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
};

}  // namespace dragoman::test_support

/// Ends the test, with a message, where it cannot start several ranks.
#define DRAGOMAN_NEEDS_MPIRUN()                                                     \
  if (!dragoman::test_support::has_mpirun()) {                                      \
    GTEST_SKIP() << "mpirun is not installed (openmpi-bin): no ranks to test with"; \
  }
