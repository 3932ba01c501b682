#include "decoding/in_groups.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/cpu.h"
#include "base/worker_pool.h"
#include "tensor/arena.h"

namespace dragoman::decoding {

void for_each_group(size_t count, int workers, const std::function<void(size_t number)>& work) {
  const auto most = static_cast<size_t>(base::thread_count(workers));
  std::atomic<size_t> next = 0;
  base::WorkerPool pool(static_cast<int>(std::clamp(count, size_t{1}, most)));
  const std::shared_ptr<tensor::Allocator> memory = tensor::Arena::current();
  pool.run([&](int) {
    const tensor::ArenaScope arena(memory->another());
    for (size_t number = next++; number < count; number = next++) {
      work(number);
    }
  });
}

}  // namespace dragoman::decoding
