#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/device_sums.h"
#include "nn/parameters.h"
#include "tensor/transfer.h"

namespace dragoman::training {

/// What a process with a device updates: its own parts of the weights, or all of them.
enum class Sharing { kOwn, kAll };

/// The flat gradients of one replica, cut into buckets of equal length. Each bucket is handed to the communicator as
/// soon as the gradients of all parameters in it are final, so that sums over the replicas overlap the backward.
/// Used by one thread.
class GradientBuckets {
 public:
  /// 1 MiB: long enough to travel well, short enough to set out early.
  static constexpr int64_t kBucketElements = int64_t{1} << 18;
  /// 16 MiB, for a device: messages and kernels have a fixed cost there.
  static constexpr int64_t kDeviceBucketElements = int64_t{1} << 22;

  /// @param parameters  with gradients allocated; both must outlive this
  GradientBuckets(nn::ParameterSet& parameters, distributed::Communicator& communicator,
                  int64_t bucket_elements = kBucketElements);

  /// How `size` elements are cut: the part of every bucket that one of `ranks` devices adds.
  [[nodiscard]] static std::vector<distributed::Part> parts_of(int64_t size, int rank, int ranks);
  /// From now on gradients on a device are summed by messages between the devices of all processes, instead of through
  /// the host. Requires: the buckets have kDeviceBucketElements; this process has one replica.
  /// @param sharing  whether finish_update leaves this process with its own parts or with all sums
  void join(std::unique_ptr<kernels::DeviceMessages> messages, const distributed::ProcessGroup& processes,
            Sharing sharing);
  /// After an update of own parts: all processes get those of the others.  @param flat  laid out as the gradients
  void hand_out(const tensor::Tensor& flat);

  /// Before the passes of an update: forgets the last gradients.
  void begin_update();
  /// The gradient of this parameter is final (autograd::Tape::on_final).
  void parameter_final(const nn::Variable& parameter);
  /// After the passes: zeroes what no backward reached, begins the sums that are left and waits for all of them. Of
  /// each bucket, `shares` then holds the sum.
  void finish_update();

  /// The elements of the flat buffer that this replica has the sums of: one part a bucket.
  const std::vector<distributed::Part>& shares() const { return shares_; }

 private:
  struct Bucket {
    distributed::Part part{};
    int parameters = 0;  // that reach into it
    int missing = 0;     // of these, not final yet
    bool begun = false;
    std::optional<tensor::HostEdit<float>> values;  // of the gradients, while they are summed
  };
  void begin_sum(size_t index);

  nn::ParameterSet& parameters_;
  distributed::Communicator& communicator_;
  int64_t bucket_elements_;
  std::deque<Bucket> buckets_;
  std::vector<distributed::Part> shares_;
  std::unique_ptr<distributed::DeviceSums> device_sums_;  // null: sums go through the host, if there are any
  Sharing sharing_ = Sharing::kAll;
};

}  // namespace dragoman::training
