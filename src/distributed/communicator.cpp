#include "distributed/communicator.h"

namespace dragoman::distributed {

Part part_of(int64_t size, int rank, int ranks) {
  const auto border = [&](int64_t index) { return index == ranks ? size : size * index / ranks / 16 * 16; };
  return {border(rank), border(rank + 1)};
}

}  // namespace dragoman::distributed
