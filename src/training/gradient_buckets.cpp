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
  communicator_.end_sums();
  for (Bucket& bucket : buckets_) {
    bucket.values.reset();
  }
}

void GradientBuckets::begin_sum(size_t index) {
  buckets_[index].begun = true;
  const distributed::Part part = buckets_[index].part;
  buckets_[index].values.emplace(parameters_.gradients().rows(part.begin, part.end));
  communicator_.begin_sum(buckets_[index].values->span(), static_cast<int>(index));
}

}  // namespace dragoman::training
