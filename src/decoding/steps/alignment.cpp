#include "decoding/steps/alignment.h"

#include <string>

#include "base/error.h"
#include "data/vocabulary/vocabulary.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

// Adds up the heads of one layer's cross-attention over one sentence.
class MeanOfHeads : public nn::ForwardObserver {
 public:
  MeanOfHeads(std::string path, size_t size) : path_(std::move(path)), weights_(size, 0.0F) {}

  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    if (path != path_) {
      return;
    }
    const int64_t n_heads = weights.dim(0);
    const tensor::HostView<float> values(weights);  // [H, T, S]
    for (size_t i = 0; i < values.size(); ++i) {
      weights_[i % weights_.size()] += values[i] / static_cast<float>(n_heads);
    }
  }
  std::vector<float> take_weights() { return std::move(weights_); }

 private:
  std::string path_;
  std::vector<float> weights_;  // [T, S]
};

}  // namespace

void check_alignment_layer(const models::Model& model, int layer) {
  const auto count = static_cast<int>(model.cross_attention_paths().size());
  base::check_usage(count > 0, "alignment: a model of architecture {} has no cross-attention to read it from",
                    model.config().architecture());
  base::check_usage(layer >= -1 && layer < count,
                    "alignment_layer is {}, the model has {} decoder layers: give 0 to {}, or -1 for the last", layer,
                    count, count - 1);
}

Alignment align(const models::Model& model, std::span<const int32_t> source, std::span<const int32_t> target,
                int layer) {
  check_alignment_layer(model, layer);
  const auto source_length = static_cast<int64_t>(source.size());
  if (target.empty()) {
    return alignment_of({}, source_length);
  }
  std::vector<int32_t> input = {data::kBosId};
  input.insert(input.end(), target.begin(), target.end() - 1);
  const std::vector<std::string> paths = model.cross_attention_paths();
  MeanOfHeads observer(layer < 0 ? paths.back() : paths[static_cast<size_t>(layer)], target.size() * source.size());
  nn::ForwardContext context;
  context.observer = &observer;
  const autograd::NoGrad inference;
  model.forward({models::one_sentence(source), models::one_sentence(input)}, context);
  return alignment_of(observer.take_weights(), source_length);
}

}  // namespace dragoman::decoding
