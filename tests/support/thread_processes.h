#pragma once

#include <barrier>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "distributed/process_group.h"

namespace dragoman::test_support {

/// A group whose processes are threads of one program, for what needs no sums through the host.
class ThreadProcesses : public distributed::ProcessGroup {
 public:
  /// Returns: one group for each rank.
  static std::vector<std::unique_ptr<ThreadProcesses>> make(int size) {
    auto meeting = std::make_shared<Meeting>(size);
    std::vector<std::unique_ptr<ThreadProcesses>> group;
    for (int rank = 0; rank < size; ++rank) {
      group.emplace_back(new ThreadProcesses(rank, meeting));
    }
    return group;
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(meeting_->texts.size()); }
  int processes_here() const override { return size(); }
  std::string name_of(int rank) const override { return fmt::format("rank {}", rank); }
  using ProcessGroup::all_gather;
  std::vector<std::string> all_gather(std::string_view mine, distributed::Channel) override {
    meeting_->texts[static_cast<size_t>(rank_)] = mine;
    meeting_->all.arrive_and_wait();
    const std::vector<std::string> texts = meeting_->texts;
    meeting_->all.arrive_and_wait();
    return texts;
  }
  void begin_sum(std::span<float>, int) override {
    base::fail(base::ErrorKind::kRuntime, "a sum went through the host");
  }
  void end_sums() override {}
  void abandon() override {}
  void end_all(int, const std::string&) override {}

 private:
  struct Meeting {
    explicit Meeting(int size) : texts(static_cast<size_t>(size)), all(size) {}
    std::vector<std::string> texts;
    std::barrier<> all;
  };
  ThreadProcesses(int rank, std::shared_ptr<Meeting> meeting) : rank_(rank), meeting_(std::move(meeting)) {}

  int rank_;
  std::shared_ptr<Meeting> meeting_;
};

}  // namespace dragoman::test_support
