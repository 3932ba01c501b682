#include "training/attention_maps.h"

#include <fmt/format.h>

#include <array>

#include "autograd/variable.h"
#include "report/svg_heat_map.h"

namespace dragoman::training {
namespace {

constexpr size_t kLongestSide = 60;  // pieces: a larger map is no picture any more

class MapCollector : public nn::ForwardObserver {
 public:
  MapCollector(const models::TransformerConfig& config, std::vector<std::string> source,
               std::vector<std::string> target)
      : source_(std::move(source)), target_(std::move(target)) {
    self_path_ = fmt::format("encoder.layers.{}.self_attention", config.encoder_layers - 1);
    cross_path_ = fmt::format("decoder.layers.{}.cross_attention", config.decoder_layers - 1);
  }

  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    if (path == self_path_) {
      maps_.push_back({"Encoder self-attention, last layer", "source", "source", source_, source_, mean(weights)});
    } else if (path == cross_path_) {
      maps_.push_back({"Cross-attention, last layer", "target", "source", target_, source_, mean(weights)});
    }
  }

  std::vector<report::HeatMap> maps() { return std::move(maps_); }

 private:
  // [H, T, S] -> [T, S]
  static std::vector<float> mean(const tensor::Tensor& weights) {
    const int64_t heads = weights.dim(0), cells = weights.dim(1) * weights.dim(2);
    std::vector<float> mean(static_cast<size_t>(cells));
    for (int64_t index = 0; index < heads * cells; ++index) {
      mean[static_cast<size_t>(index % cells)] += weights.data<float>()[index] / static_cast<float>(heads);
    }
    return mean;
  }

  std::string self_path_, cross_path_;
  std::vector<std::string> source_, target_;
  std::vector<report::HeatMap> maps_;
};

std::vector<std::string> pieces_of(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    pieces.push_back(id == data::kEosId ? "end" : id == data::kBosId ? "start" : vocabulary.piece(id));
  }
  return pieces;
}

models::TokenRows single(std::span<const int32_t> ids) {
  const std::array<int32_t, 2> offsets{0, static_cast<int32_t>(ids.size())};
  return models::make_token_rows(ids, offsets);
}

}  // namespace

std::vector<report::HeatMap> attention_maps(const models::Transformer& model, const Validator& validator) {
  const std::vector<int32_t> source = data::encode_source(validator.source_vocabulary(), validator.sources().front());
  std::vector<int32_t> target = validator.target_vocabulary().encode(validator.references().front());
  if (source.empty() || source.size() > kLongestSide || target.size() > kLongestSide) {
    return {};
  }
  std::vector<std::string> rows = pieces_of(validator.target_vocabulary(), target);
  rows.emplace_back("end");
  target.insert(target.begin(), data::kBosId);
  MapCollector collector(model.config(), pieces_of(validator.source_vocabulary(), source), std::move(rows));
  nn::ForwardContext context;
  context.observer = &collector;
  const autograd::NoGrad inference;
  model.forward(single(source), single(target), context);
  return collector.maps();
}

}  // namespace dragoman::training
