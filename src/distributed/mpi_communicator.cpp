#include "distributed/mpi_communicator.h"

#include <deque>
#include <mutex>

#include "distributed/mpi_engine.h"

namespace dragoman::distributed {
namespace {

class MpiCommunicator : public ProcessGroup {
 public:
  explicit MpiCommunicator(const JoinOptions& options) : engine_(options) {}
  // All ranks leave together, because a rank that has left sends no more signs of life.
  ~MpiCommunicator() override { barrier(); }

  int rank() const override { return engine_.rank(); }
  int size() const override { return engine_.size(); }
  int processes_here() const override { return engine_.processes_here(); }
  std::string name_of(int rank) const override { return engine_.name_of(rank); }

  using ProcessGroup::all_gather;
  std::vector<std::string> all_gather(std::string_view mine, Channel channel) override {
    MpiGather gather(mine, channel);
    engine_.begin(gather);
    engine_.wait_for(gather);
    return gather.take();
  }

  void begin_sum(std::span<float> values, int tag) override {
    MpiSum* sum = nullptr;
    {
      const std::lock_guard lock(mutex_);
      while (sums_.size() <= static_cast<size_t>(tag)) {
        sums_.emplace_back();
      }
      sum = &sums_[static_cast<size_t>(tag)];
    }
    sum->prepare(values, tag);
    engine_.begin(*sum);
  }

  void end_sums() override { engine_.wait_for_sums(); }
  double take_sum_seconds() override { return engine_.take_sum_seconds(); }
  void abandon() override {}
  void end_all(int status, const std::string& text) override { engine_.end_all(status, text); }

 private:
  std::mutex mutex_;
  std::deque<MpiSum> sums_;  // by tag; references stay valid
  MpiEngine engine_;
};

}  // namespace

std::unique_ptr<ProcessGroup> make_mpi_communicator(const JoinOptions& options) {
  return std::make_unique<MpiCommunicator>(options);
}

}  // namespace dragoman::distributed
