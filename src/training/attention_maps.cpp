#include "training/attention_maps.h"

#include <fmt/format.h>

#include "decoding/steps/teacher_forcing.h"
#include "report/svg_heat_map.h"

namespace dragoman::training {
namespace {

constexpr size_t kLongestSide = 60;  // pieces: a larger map is no picture any more

// Keeps the weights of the encoder's self-attention and of cross-attention that were shown last: those of the last
// layers.
class MapCollector : public nn::ForwardObserver {
 public:
  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    if (path.starts_with("encoder.") && path.ends_with(".self_attention")) {
      self_ = decoding::mean_of_heads(weights);
    } else if (path.ends_with(".cross_attention")) {
      cross_ = decoding::mean_of_heads(weights);
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
  std::vector<float> self_;   // [S, S]
  std::vector<float> cross_;  // [T, S]
};

// Words for the special pieces, which a reader of a report does not know.
std::vector<std::string> pieces_of(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> pieces = vocabulary.pieces(ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == data::kEosId) {
      pieces[i] = "end";
    }
  }
  return pieces;
}

}  // namespace

std::vector<report::HeatMap> attention_maps(const models::Model& model, const data::VocabularyPair& vocabularies,
                                            const std::string& source_text, const std::string& reference) {
  const std::vector<int32_t> source = data::encode_source(vocabularies.source, source_text);
  std::vector<int32_t> target = vocabularies.target.encode(reference);  // [T - 1]
  if (source.empty() || source.size() > kLongestSide || target.size() > kLongestSide) {
    return {};
  }
  target.push_back(data::kEosId);
  MapCollector collector;
  decoding::observe_pair(model, source, decoding::teacher_forced_input(target), collector);
  return collector.maps(pieces_of(vocabularies.source, source), pieces_of(vocabularies.target, target));
}

}  // namespace dragoman::training
