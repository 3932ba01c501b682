#include "decoding/in_groups.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/cpu.h"
#include "base/worker_pool.h"
#include "tensor/arena.h"

namespace dragoman::decoding {

int worker_count(int asked, tensor::Device device) {
  return asked == 0 && !device.is_host() ? 1 : base::thread_count(asked);
}

void for_each_group(size_t count, int workers, const std::function<void(size_t number)>& work) {
  const std::shared_ptr<tensor::Allocator> memory = tensor::Arena::current();
  const auto most = static_cast<size_t>(worker_count(workers, memory->device()));
  std::atomic<size_t> next = 0;
  if (most == 1 && !memory->device().is_host()) {  // memory of a GPU is kept: to request and to return it takes long
    for (size_t number = 0; number < count; ++number) {
      work(number);
    }
    return;
  }
  base::WorkerPool pool(static_cast<int>(std::clamp(count, size_t{1}, most)));
  pool.run([&](int) {
    const tensor::ArenaScope arena(memory->another());
    for (size_t number = next++; number < count; number = next++) {
      work(number);
    }
  });
}

}  // namespace dragoman::decoding
