#include "decoding/steps/alignment.h"

#include <string>

#include "base/error.h"
#include "decoding/steps/teacher_forcing.h"

namespace dragoman::decoding {
namespace {

// Keeps the weights of one layer's cross-attention over one sentence.
class OneLayer : public nn::ForwardObserver {
 public:
  explicit OneLayer(std::string path) : path_(std::move(path)) {}

  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    if (path == path_) {
      mean_ = mean_of_heads(weights);
    }
  }
  std::vector<float> take_mean() { return std::move(mean_); }

 private:
  std::string path_;
  std::vector<float> mean_;  // [T, S]
};

}  // namespace

void check_alignment_layer(const models::Model& model, int layer) {
  const auto count = static_cast<int>(model.cross_attention_paths().size());
  base::check_usage(
      count > 0,
      "alignment: this model of architecture {} has no attention to the source to read it from; leave out what asks "
      "for it",
      model.config().architecture());
  base::check_usage(
      layer >= -1 && layer < count,
      "alignment_layer is {}, the model has attention to the source in {} layers: give 0 to {}, or -1 for the last",
      layer, count, count - 1);
}

Alignment align(const models::Model& model, std::span<const int32_t> source, std::span<const int32_t> target,
                int layer) {
  check_alignment_layer(model, layer);
  const auto source_length = static_cast<int64_t>(source.size());
  if (target.empty()) {
    return alignment_of({}, source_length);
  }
  const std::vector<std::string> paths = model.cross_attention_paths();
  OneLayer observer(layer < 0 ? paths.back() : paths[static_cast<size_t>(layer)]);
  observe_pair(model, source, teacher_forced_input(target), observer);
  return alignment_of(observer.take_mean(), source_length);
}

}  // namespace dragoman::decoding
