#include "distributed/thread_communicator.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace dragoman::distributed {

struct ThreadCommunicator::Meeting {
  Meeting(int ranks, Communicator* world) : size(ranks), outside(world), doubles(static_cast<size_t>(ranks)) {}

  // The buffers of all ranks for one tag.
  struct Sum {
    std::vector<float*> buffers;
    size_t length = 0;
    int arrived = 0;
    int taken = 0;  // ranks that have added their share
  };

  // A reusable barrier: the last rank to arrive opens the next round.
  void wait() {
    std::unique_lock lock(mutex);
    check_all_here();
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

  void check_all_here() const {
    base::check(!abandoned, base::ErrorKind::kRuntime, "communicator: another replica failed");
  }

  Sum& sum(int tag) {
    while (sums.size() <= static_cast<size_t>(tag)) {
      sums.emplace_back().buffers.resize(static_cast<size_t>(size));
    }
    return sums[static_cast<size_t>(tag)];
  }

  const int size;
  Communicator* const outside;
  std::mutex mutex;
  std::condition_variable everybody;
  int arrived = 0;
  uint64_t rounds = 0;
  bool abandoned = false;
  std::vector<std::span<double>> doubles;  // the values of each rank in all_reduce_sum
  std::deque<Sum> sums;                    // by tag; references stay valid
  uint64_t complete_sums = 0;              // counts the sums for which all ranks have arrived
};

std::vector<std::unique_ptr<ThreadCommunicator>> ThreadCommunicator::make_group(int size, Communicator* outside) {
  base::check_argument(size >= 1, "communicator: a group of {} ranks", size);
  auto meeting = std::make_shared<Meeting>(size, outside);
  std::vector<std::unique_ptr<ThreadCommunicator>> group;
  for (int rank = 0; rank < size; ++rank) {
    group.emplace_back(new ThreadCommunicator(rank, meeting));
  }
  return group;
}

int ThreadCommunicator::size() const {
  return meeting_->size;
}

bool ThreadCommunicator::is_alone() const {
  return size() == 1 && (meeting_->outside == nullptr || meeting_->outside->is_alone());
}

void ThreadCommunicator::barrier() {
  meeting_->wait();
}

void ThreadCommunicator::abandon() {
  const std::lock_guard lock(meeting_->mutex);
  meeting_->abandoned = true;
  meeting_->everybody.notify_all();
}

void ThreadCommunicator::all_reduce_sum(std::span<double> values) {
  meeting_->doubles[static_cast<size_t>(rank_)] = values;
  meeting_->wait();
  std::vector<double> sum(values.size());
  for (const std::span<double> part : meeting_->doubles) {
    base::check_argument(part.size() == values.size(), "communicator: rank {} brings {} values, another rank {}", rank_,
                         values.size(), part.size());
    std::ranges::transform(sum, part, sum.begin(), std::plus<>());
  }
  meeting_->wait();  // all have read before any writes
  std::ranges::copy(sum, values.begin());
}

void ThreadCommunicator::begin_sum(std::span<float> values, int tag) {
  {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->check_all_here();
    Meeting::Sum& sum = meeting_->sum(tag);
    base::check_argument(sum.arrived == 0 || sum.length == values.size(),
                         "communicator: rank {} brings {} values, another rank {}", rank_, values.size(), sum.length);
    sum.length = values.size();
    sum.buffers[static_cast<size_t>(rank_)] = values.data();
    if (++sum.arrived == meeting_->size) {
      ++meeting_->complete_sums;
      meeting_->everybody.notify_all();
    }
  }
  begun_.push_back(tag);
  add_complete_sums();
}

void ThreadCommunicator::end_sums() {
  while (!begun_.empty()) {
    uint64_t seen = 0;
    {
      const std::lock_guard lock(meeting_->mutex);
      seen = meeting_->complete_sums;
    }
    if (!add_complete_sums()) {
      std::unique_lock lock(meeting_->mutex);
      meeting_->everybody.wait(lock, [&] { return meeting_->complete_sums != seen || meeting_->abandoned; });
      meeting_->check_all_here();
    }
  }
  meeting_->wait();  // the others may read this rank's values until here
  if (meeting_->outside != nullptr) {
    meeting_->outside->end_sums();  // all shares have been sent
  }
}

// Adds the share of this rank for every sum that all ranks have begun. Returns true if there was one.
bool ThreadCommunicator::add_complete_sums() {
  std::vector<std::pair<int, Meeting::Sum*>> complete;  // by tag
  {
    const std::lock_guard lock(meeting_->mutex);
    std::erase_if(begun_, [&](int tag) {
      Meeting::Sum& sum = meeting_->sum(tag);
      if (sum.arrived < meeting_->size) {
        return false;
      }
      complete.emplace_back(tag, &sum);
      return true;
    });
  }
  for (const auto& [tag, sum] : complete) {
    const std::span<float> own = add_share(sum->buffers, static_cast<int64_t>(sum->length));
    if (meeting_->outside != nullptr) {
      meeting_->outside->begin_sum(own, tag * meeting_->size + rank_);
    }
  }
  const std::lock_guard lock(meeting_->mutex);
  for (const auto& [tag, sum] : complete) {
    if (++sum->taken == meeting_->size) {
      sum->arrived = sum->taken = 0;
    }
  }
  return !complete.empty();
}

// In rank order, into this rank's own buffer: no other rank reads or writes its share there.
std::span<float> ThreadCommunicator::add_share(const std::vector<float*>& buffers, int64_t size) const {
  const Part part = share(size);
  constexpr int64_t kBlock = 4096;  // elements: the running sum stays in cache
  std::array<float, kBlock> sum;
  for (int64_t begin = part.begin; buffers.size() > 1 && begin < part.end; begin += kBlock) {
    const int64_t length = std::min(kBlock, part.end - begin);
    std::copy_n(buffers.front() + begin, length, sum.data());
    for (size_t other = 1; other < buffers.size(); ++other) {
      const float* from = buffers[other] + begin;
      for (int64_t index = 0; index < length; ++index) {
        sum[static_cast<size_t>(index)] += from[index];
      }
    }
    std::copy_n(sum.data(), length, buffers[static_cast<size_t>(rank_)] + begin);
  }
  return {buffers[static_cast<size_t>(rank_)] + part.begin, static_cast<size_t>(part.end - part.begin)};
}

}  // namespace dragoman::distributed
