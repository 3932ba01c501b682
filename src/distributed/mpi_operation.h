#pragma once

#define OMPI_SKIP_MPICXX 1  // the C++ bindings were removed from the standard; their header does not compile cleanly
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "distributed/process_group.h"

namespace dragoman::distributed {

/// Throws Error(kRuntime) for a call of MPI that failed: "MPI_Isend: MPI_ERR_COMM: invalid communicator".
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

/// Something that all ranks do together, in steps that never wait. Made by any thread, started and advanced by the
/// engine's.
class MpiOperation {
 public:
  virtual ~MpiOperation() = default;
  virtual void start(int rank, int size) = 0;
  /// Goes on as far as the messages allow. @return true when done
  virtual bool advance() = 0;
  /// Sums of gradients are waited for together, everything else one by one.
  virtual bool is_sum() const = 0;

  bool done = false;  // guarded by the engine
};

/// Everyone's bytes to everyone.
class MpiGather : public MpiOperation {
 public:
  MpiGather(std::string_view mine, Line line) : mine_(mine), line_(line) {}
  void start(int rank, int size) override;
  bool advance() override;
  bool is_sum() const override { return false; }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  enum class Stage { kSizes, kBytes };
  void exchange_bytes();

  std::string mine_;
  Line line_;
  int rank_ = 0;
  Stage stage_ = Stage::kSizes;
  uint64_t my_size_ = 0;
  std::vector<uint64_t> sizes_;
  std::vector<std::string> all_;
  MpiRequests requests_;
};

/// The sum of float buffers, in rank order on every rank: first each rank gets its part of everybody's values and adds
/// them up (reduce-scatter), then it hands the sum out (all-gather). Each rank sends and receives
/// 2 (P - 1) / P times the bytes of the buffer. Kept and used again, so that its scratch stays.
class MpiSum : public MpiOperation {
 public:
  /// @param tag  as Communicator::begin_sum
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
  std::vector<float> scratch_;  // [P][longest part]: what the others bring for this rank's part
  MpiRequests requests_;
};

}  // namespace dragoman::distributed
