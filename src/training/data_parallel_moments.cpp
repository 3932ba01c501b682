// Adam's moments where processes own parts of them.
#include <cstring>

#include "tensor/transfer.h"
#include "training/data_parallel.h"

namespace dragoman::training {

DataParallel::Moments DataParallel::moments() {
  return {whole_moment(optimizer_.first_moment()), whole_moment(optimizer_.second_moment())};
}

// A process with parts of a moment gets the others' through the host.
tensor::Tensor DataParallel::whole_moment(const tensor::Tensor& own) {
  if (owned_.empty()) {
    return own;
  }
  const tensor::HostView<float> values(own);
  const auto bytes = std::as_bytes(values.span());
  const std::vector<std::string> all =
      processes_.all_gather({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const tensor::HostScope on_host;
  tensor::Tensor whole = tensor::Tensor::empty({model_.parameters().flat_size()});
  for (int rank = 0; rank < processes_.size(); ++rank) {
    const std::string& of_rank = all[static_cast<size_t>(rank)];
    size_t next = 0;
    for (const auto [begin, end] : GradientBuckets::parts_of(whole.size(), rank, processes_.size())) {
      tensor::HostEdit<float> part(whole.rows(begin, end));
      std::memcpy(part.span().data(), of_rank.data() + next, part.span().size_bytes());
      next += part.span().size_bytes();
    }
  }
  return whole;
}

void DataParallel::set_moments(const Moments& moments) {
  int64_t next = 0;
  for (const auto [begin, end] : owned_) {  // otherwise they are the optimizer's own
    const int64_t after = next + end - begin;
    optimizer_.first_moment().rows(next, after).copy_from(moments.first.rows(begin, end));
    optimizer_.second_moment().rows(next, after).copy_from(moments.second.rows(begin, end));
    next = after;
  }
}

}  // namespace dragoman::training
