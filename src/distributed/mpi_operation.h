#pragma once

#define OMPI_SKIP_MPICXX 1  // the C++ bindings were removed from the standard; their header does not compile cleanly
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "distributed/process_group.h"

namespace dragoman::distributed {

/// Checks the result of a call of MPI. Throws: Error(kRuntime), "MPI_Isend: MPI_ERR_COMM: invalid communicator".
void check_mpi(int code, const char* call);

/// The messages in flight that are waited for together. Threads: the thread of the engine only.
class MpiRequests {
 public:
  /// Begins to send or to receive `count` bytes, in several messages above kMaxMessageBytes.
  void send(const void* bytes, size_t count, int to, int tag);
  void receive(void* bytes, size_t count, int from, int tag);
  /// Lets MPI make progress. Returns true if all messages have ended. Never waits.
  [[nodiscard]] bool done();

 private:
  std::vector<MPI_Request> requests_;
};

/// A collective operation of all ranks, in steps that never wait.
/// Threads: any thread constructs it; only the thread of the engine starts and advances it.
class MpiOperation {
 public:
  virtual ~MpiOperation() = default;
  virtual void start(int rank, int size) = 0;
  /// Advances as far as the received messages allow. Returns true after the last step.
  virtual bool advance() = 0;
  /// Returns true for sums of gradients, which are waited for together. Other operations are waited for one by one.
  virtual bool is_sum() const = 0;

  bool done = false;  // guarded by the mutex of the engine
};

/// The all-gather of byte strings.
class MpiGather : public MpiOperation {
 public:
  MpiGather(std::string_view mine, Channel channel) : mine_(mine), channel_(channel) {}
  void start(int rank, int size) override;
  bool advance() override;
  bool is_sum() const override { return false; }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  enum class Stage { kSizes, kBytes };
  void exchange_bytes();

  std::string mine_;
  Channel channel_;
  int rank_ = 0;
  Stage stage_ = Stage::kSizes;
  uint64_t my_size_ = 0;
  std::vector<uint64_t> sizes_;
  std::vector<std::string> all_;
  MpiRequests requests_;
};

/// The all-reduce sum of float buffers, added in rank order. First each rank receives its part of the values of all
/// ranks and adds them (reduce-scatter). Then it sends the sum to all ranks (all-gather). Each rank sends and receives
/// 2 (P - 1) / P times the bytes of the buffer. An object is reused for the next sum, so its scratch memory is kept.
class MpiSum : public MpiOperation {
 public:
  /// Sets the buffer of the next sum. @param tag  as in Communicator::begin_sum
  void prepare(std::span<float> values, int tag);
  void start(int rank, int size) override;
  bool advance() override;
  bool is_sum() const override { return true; }

 private:
  enum class Stage { kParts, kSums };
  std::span<float> part(int rank) const;
  void add_parts();
  void hand_out();

  std::span<float> values_;
  int tag_ = 0;
  int rank_ = 0;
  int size_ = 0;
  Stage stage_ = Stage::kParts;
  std::vector<float> scratch_;  // [P][longest part]: the values of all ranks for the part of this rank
  MpiRequests requests_;
};

}  // namespace dragoman::distributed
