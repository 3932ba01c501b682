#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace dragoman::distributed {

/// The elements [begin, end) of a flat buffer that one rank is responsible for.
struct Part {
  int64_t begin;
  int64_t end;
};

/// Cuts `size` elements into `ranks` parts of about equal length; borders are multiples of 16 elements.
Part part_of(int64_t size, int rank, int ranks);

/// What replicas of a model say to each other. Every rank must make the same calls in the same order.
/// Sums are taken in rank order, so a run with the same number of ranks is reproducible bit for bit.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns when every rank has called it.
  virtual void barrier() = 0;
  /// Every rank's `values` become the element-wise sum over all ranks. Equal lengths.
  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
  /// This rank's part_of(values) becomes the sum over all ranks; the rest of `values` is left unspecified.
  virtual void reduce_scatter_sum(std::span<float> values) = 0;
  /// Every rank's `values` become those of `root`.
  virtual void broadcast(std::span<float> values, int root) = 0;
  /// A rank that fails calls this: the others leave their collective with an Error instead of waiting for ever.
  virtual void abandon() = 0;
};

/// A world of one: every collective does nothing.
class SingleCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void barrier() override {}
  void all_reduce_sum(std::span<float>) override {}
  void all_reduce_sum(std::span<double>) override {}
  void reduce_scatter_sum(std::span<float>) override {}
  void broadcast(std::span<float>, int) override {}
  void abandon() override {}
};

/// Replicas as threads of one process. All members live as long as the shared meeting point.
/// If a rank fails it calls `abandon`; the others then leave their collective with an Error instead of waiting for
/// ever.
class ThreadCommunicator : public Communicator {
 public:
  /// One communicator per rank, all connected.
  static std::vector<std::unique_ptr<ThreadCommunicator>> make_group(int size);

  int rank() const override { return rank_; }
  int size() const override;
  void barrier() override;
  void all_reduce_sum(std::span<float> values) override;
  void all_reduce_sum(std::span<double> values) override;
  void reduce_scatter_sum(std::span<float> values) override;
  void broadcast(std::span<float> values, int root) override;
  void abandon() override;

 private:
  struct Meeting;
  ThreadCommunicator(int rank, std::shared_ptr<Meeting> meeting) : rank_(rank), meeting_(std::move(meeting)) {}
  template <typename T>
  Part meet_and_sum(std::span<T> values);
  template <typename T>
  void reduce(std::span<T> values);

  int rank_;
  std::shared_ptr<Meeting> meeting_;
};

}  // namespace dragoman::distributed
