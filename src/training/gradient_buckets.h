#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "distributed/communicator.h"
#include "nn/parameters.h"
#include "tensor/transfer.h"

namespace dragoman::training {

/// The flat gradients of one replica, cut into buckets of equal length. Each bucket is handed to the communicator as
/// soon as the gradients of all parameters in it are final, so that sums over the replicas overlap the backward.
/// Used by one thread.
class GradientBuckets {
 public:
  /// 1 MiB: long enough to travel well, short enough to set out early.
  static constexpr int64_t kBucketElements = int64_t{1} << 18;

  /// @param parameters  with gradients allocated; both must outlive this
  GradientBuckets(nn::ParameterSet& parameters, distributed::Communicator& communicator,
                  int64_t bucket_elements = kBucketElements);

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
};

}  // namespace dragoman::training
