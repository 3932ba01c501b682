#include "training/gradient_buckets.h"

#include <algorithm>

namespace dragoman::training {

GradientBuckets::GradientBuckets(nn::ParameterSet& parameters, distributed::Communicator& communicator,
                                 int64_t bucket_elements)
    : parameters_(parameters), communicator_(communicator), bucket_elements_(bucket_elements) {
  const int64_t total = parameters.gradients().size();
  for (int64_t begin = 0; begin < total; begin += bucket_elements_) {
    const distributed::Part part{begin, std::min(begin + bucket_elements_, total)};
    buckets_.emplace_back().part = part;
    const distributed::Part share = communicator.share(part.end - part.begin);
    shares_.push_back({begin + share.begin, begin + share.end});
  }
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    const int64_t last = parameter->offset + parameter->shape.size() - 1;
    for (int64_t bucket = parameter->offset / bucket_elements_; bucket <= last / bucket_elements_; ++bucket) {
      ++buckets_[static_cast<size_t>(bucket)].parameters;
    }
  }
}

std::vector<distributed::Part> GradientBuckets::parts_of(int64_t size, int rank, int ranks) {
  std::vector<distributed::Part> parts;
  for (int64_t begin = 0; begin < size; begin += kDeviceBucketElements) {
    const distributed::Part part = distributed::part_of(std::min(kDeviceBucketElements, size - begin), rank, ranks);
    parts.push_back({begin + part.begin, begin + part.end});
  }
  return parts;
}

void GradientBuckets::join(std::unique_ptr<kernels::DeviceMessages> messages,
                           const distributed::ProcessGroup& processes, Sharing sharing) {
  const int rank = processes.rank(), ranks = processes.size();
  device_sums_ =
      std::make_unique<distributed::DeviceSums>(std::move(messages), rank, ranks, static_cast<int>(buckets_.size()));
  sharing_ = sharing;
  if (sharing == Sharing::kOwn) {
    shares_ = parts_of(parameters_.gradients().size(), rank, ranks);
  }
}

void GradientBuckets::hand_out(const tensor::Tensor& flat) {
  std::vector<tensor::Tensor> values;
  for (const Bucket& bucket : buckets_) {
    values.push_back(flat.rows(bucket.part.begin, bucket.part.end));
  }
  device_sums_->hand_out(values);
}

void GradientBuckets::begin_update() {
  parameters_.clear_gradients();
  for (Bucket& bucket : buckets_) {
    bucket.values.reset();
    bucket.missing = bucket.parameters;
    bucket.begun = false;
  }
}

void GradientBuckets::parameter_final(const nn::Variable& parameter) {
  const tensor::Tensor& gradient = parameter.grad();
  const int64_t first = tensor::offset_in(parameters_.gradients(), gradient);
  const int64_t last = first + gradient.size() - 1;
  for (int64_t bucket = first / bucket_elements_; bucket <= last / bucket_elements_; ++bucket) {
    if (--buckets_[static_cast<size_t>(bucket)].missing == 0) {
      begin_sum(static_cast<size_t>(bucket));
    }
  }
}

void GradientBuckets::finish_update() {
  parameters_.complete_gradients();
  for (size_t index = buckets_.size(); index-- > 0;) {
    if (!buckets_[index].begun) {
      begin_sum(index);
    }
  }
  if (device_sums_ != nullptr) {
    device_sums_->end();
    if (sharing_ == Sharing::kAll) {
      hand_out(parameters_.gradients());
    }
  }
  communicator_.end_sums();
  for (Bucket& bucket : buckets_) {
    bucket.values.reset();
  }
}

void GradientBuckets::begin_sum(size_t index) {
  buckets_[index].begun = true;
  const distributed::Part part = buckets_[index].part;
  const tensor::Tensor values = parameters_.gradients().rows(part.begin, part.end);  // [n]
  if (device_sums_ != nullptr) {
    device_sums_->begin(values, static_cast<int>(index));
  } else if (values.device().is_host() || !communicator_.is_alone()) {
    buckets_[index].values.emplace(values);
    communicator_.begin_sum(buckets_[index].values->span(), static_cast<int>(index));
  }
}

}  // namespace dragoman::training
