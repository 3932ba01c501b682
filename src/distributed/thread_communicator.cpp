#include <algorithm>
#include <array>

#include "base/error.h"
#include "distributed/communicator.h"

namespace dragoman::distributed {

struct ThreadCommunicator::Meeting {
  explicit Meeting(int ranks) : size(ranks), buffers(static_cast<size_t>(ranks)), lengths(buffers.size()) {}

  // A reusable barrier: the last rank to arrive opens the next round.
  void wait() {
    std::unique_lock lock(mutex);
    base::check(!abandoned, base::ErrorKind::kRuntime, "communicator: another replica failed");
    const uint64_t round = rounds;
    if (++arrived == size) {
      arrived = 0;
      ++rounds;
      everybody.notify_all();
      return;
    }
    everybody.wait(lock, [&] { return rounds != round || abandoned; });
    base::check(rounds != round, base::ErrorKind::kRuntime, "communicator: another replica failed");
  }

  const int size;
  std::mutex mutex;
  std::condition_variable everybody;
  int arrived = 0;
  uint64_t rounds = 0;
  bool abandoned = false;
  std::vector<void*> buffers;
  std::vector<size_t> lengths;
};

Part part_of(int64_t size, int rank, int ranks) {
  const auto border = [&](int64_t index) { return index == ranks ? size : size * index / ranks / 16 * 16; };
  return {border(rank), border(rank + 1)};
}

std::vector<std::unique_ptr<ThreadCommunicator>> ThreadCommunicator::make_group(int size) {
  base::check_argument(size >= 1, "communicator: a group of {} ranks", size);
  auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::unique_ptr<ThreadCommunicator>> group;
  for (int rank = 0; rank < size; ++rank) {
    group.emplace_back(new ThreadCommunicator(rank, meeting));
  }
  return group;
}

int ThreadCommunicator::size() const {
  return meeting_->size;
}

void ThreadCommunicator::barrier() {
  meeting_->wait();
}

void ThreadCommunicator::abandon() {
  const std::lock_guard lock(meeting_->mutex);
  meeting_->abandoned = true;
  meeting_->everybody.notify_all();
}

// Each rank sums its own part of all buffers, in rank order, into its own buffer.
template <typename T>
Part ThreadCommunicator::meet_and_sum(std::span<T> values) {
  const auto self = static_cast<size_t>(rank_);
  meeting_->buffers[self] = values.data();
  meeting_->lengths[self] = values.size();
  meeting_->wait();
  base::check_argument(std::ranges::count(meeting_->lengths, values.size()) == meeting_->size,
                       "communicator: rank {} brings {} values, another rank a different number", rank_, values.size());
  const Part part = part_of(static_cast<int64_t>(values.size()), rank_, meeting_->size);
  constexpr int64_t kBlock = 4096;  // elements: the running sum stays in cache
  std::array<T, kBlock> sum;
  for (int64_t begin = part.begin; begin < part.end; begin += kBlock) {
    const int64_t length = std::min(kBlock, part.end - begin);
    std::copy_n(static_cast<const T*>(meeting_->buffers[0]) + begin, length, sum.data());
    for (size_t other = 1; other < meeting_->buffers.size(); ++other) {
      const T* from = static_cast<const T*>(meeting_->buffers[other]) + begin;
      for (int64_t index = 0; index < length; ++index) {
        sum[static_cast<size_t>(index)] += from[index];
      }
    }
    std::copy_n(sum.data(), length, values.data() + begin);
  }
  return part;
}

void ThreadCommunicator::reduce_scatter_sum(std::span<float> values) {
  meet_and_sum(values);
  meeting_->wait();
}

template <typename T>
void ThreadCommunicator::reduce(std::span<T> values) {
  const Part part = meet_and_sum(values);
  meeting_->wait();  // all parts are summed before any buffer is overwritten
  for (void* buffer : meeting_->buffers) {
    if (buffer != values.data()) {
      std::copy(values.data() + part.begin, values.data() + part.end, static_cast<T*>(buffer) + part.begin);
    }
  }
  meeting_->wait();
}

void ThreadCommunicator::all_reduce_sum(std::span<float> values) {
  reduce(values);
}
void ThreadCommunicator::all_reduce_sum(std::span<double> values) {
  reduce(values);
}

void ThreadCommunicator::broadcast(std::span<float> values, int root) {
  meeting_->buffers[static_cast<size_t>(rank_)] = values.data();
  meeting_->wait();
  if (rank_ != root) {
    const auto* from = static_cast<const float*>(meeting_->buffers[static_cast<size_t>(root)]);
    std::copy(from, from + values.size(), values.data());
  }
  meeting_->wait();
}

}  // namespace dragoman::distributed
