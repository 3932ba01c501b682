#include "training/attention_maps.h"

#include <fmt/format.h>

#include "autograd/variable.h"
#include "report/svg_heat_map.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

constexpr size_t kLongestSide = 60;  // pieces: a larger map is no picture any more

// Keeps the weights of the encoder's self-attention and of cross-attention that were shown last: those of the last
// layers.
class MapCollector : public nn::ForwardObserver {
 public:
  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    if (path.starts_with("encoder.") && path.ends_with(".self_attention")) {
      self_ = mean(weights);
    } else if (path.ends_with(".cross_attention")) {
      cross_ = mean(weights);
    }
  }

  // Without the maps that the model does not have.
  std::vector<report::HeatMap> maps(const std::vector<std::string>& source, const std::vector<std::string>& target) {
    std::vector<report::HeatMap> maps;
    if (!self_.empty()) {
      maps.push_back({"Encoder self-attention, last layer", "source", "source", source, source, std::move(self_)});
    }
    if (!cross_.empty()) {
      maps.push_back({"Cross-attention, last layer", "target", "source", target, source, std::move(cross_)});
    }
    return maps;
  }

 private:
  // [H, T, S] -> [T, S]
  static std::vector<float> mean(const tensor::Tensor& weights) {
    const int64_t heads = weights.dim(0), cells = weights.dim(1) * weights.dim(2);
    const tensor::HostView<float> all(weights);
    std::vector<float> mean(static_cast<size_t>(cells));
    for (int64_t index = 0; index < heads * cells; ++index) {
      mean[static_cast<size_t>(index % cells)] += all[static_cast<size_t>(index)] / static_cast<float>(heads);
    }
    return mean;
  }

  std::vector<float> self_;   // [S, S]
  std::vector<float> cross_;  // [T, S]
};

std::vector<std::string> pieces_of(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    pieces.push_back(id == data::kEosId ? "end" : id == data::kBosId ? "start" : vocabulary.piece(id));
  }
  return pieces;
}

}  // namespace

std::vector<report::HeatMap> attention_maps(const models::Model& model, const data::VocabularyPair& vocabularies,
                                            const std::string& source_text, const std::string& reference) {
  const std::vector<int32_t> source = data::encode_source(vocabularies.source, source_text);
  std::vector<int32_t> target = vocabularies.target.encode(reference);
  if (source.empty() || source.size() > kLongestSide || target.size() > kLongestSide) {
    return {};
  }
  std::vector<std::string> rows = pieces_of(vocabularies.target, target);
  rows.emplace_back("end");
  target.insert(target.begin(), data::kBosId);
  MapCollector collector;
  nn::ForwardContext context;
  context.observer = &collector;
  const autograd::NoGrad inference;
  model.forward({models::one_sentence(source), models::one_sentence(target)}, context);
  return collector.maps(pieces_of(vocabularies.source, source), rows);
}

}  // namespace dragoman::training
