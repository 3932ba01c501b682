#include "nn/weight_packing.h"

#include "base/error.h"

namespace dragoman::nn {

WeightPacking::WeightPacking(std::vector<WeightSource> weights, std::shared_ptr<const ParameterValues> values,
                             kernels::Precision precision, PackedFor use)
    : values_(std::move(values)), precision_(precision), packed_version_(values_->version.load() - 1) {
  for (WeightSource& weight : weights) {
    Copy copy{std::move(weight), nullptr};
    if (copy.source.is_matrix) {
      const ops::PackedWeightLayout layout{precision, copy.source.stored, use == PackedFor::kTraining};
      copy.packed = std::make_unique<ops::PackedWeight>(copy.source.values.shape(), layout);
      for (int64_t panel = 0; panel < copy.packed->panels(); ++panel) {
        total_ += copy.packed->panel_size(panel);
      }
    }
    copies_.push_back(std::move(copy));
  }
}

WeightPacking::WeightPacking(std::vector<std::unique_ptr<ops::PackedWeight>> copies, kernels::Precision precision)
    : values_(std::make_shared<ParameterValues>()), precision_(precision), packed_version_(0) {
  for (std::unique_ptr<ops::PackedWeight>& copy : copies) {
    copies_.push_back({{}, std::move(copy)});
  }
}

void WeightPacking::pack(int rank, int workers) {
  const uint64_t version = values_->version.load();
  const auto share_of = [&](int64_t done) { return done * workers / total_; };  // rank that packs the panel at `done`
  int64_t done = 0;
  for (Copy& copy : copies_) {
    const int64_t panels = copy.packed == nullptr ? 0 : copy.packed->panels();
    int64_t begin = 0, end = 0;
    for (int64_t panel = 0; panel < panels; ++panel) {
      begin += share_of(done) < rank ? 1 : 0;
      end += share_of(done) <= rank ? 1 : 0;
      done += copy.packed->panel_size(panel);
    }
    if (begin < end) {
      copy.packed->pack(copy.source.values, begin, end);
    }
  }
  if (shares_.fetch_add(1) + 1 == workers) {
    shares_ = 0;
    packed_version_ = version;
  }
}

const ops::PackedWeight* WeightPacking::copy_of(size_t index) const {
  const Copy& copy = copies_[index];
  base::check_argument(copy.packed == nullptr || current(),
                       "parameters: the packed copy of {} is older than its values; pack the weights after changing "
                       "them",
                       copy.source.path);
  return copy.packed.get();
}

}  // namespace dragoman::nn
