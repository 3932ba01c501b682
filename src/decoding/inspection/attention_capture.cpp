#include "decoding/inspection/attention_capture.h"

#include "base/error.h"

namespace dragoman::decoding {
namespace {

// Sorts what a forward pass shows into the grids of the page. Layers come in order, so each call is the next layer.
class GridRecorder : public nn::ForwardObserver {
 public:
  explicit GridRecorder(report::AttentionPageData& page) : page_(page) {}

  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    report::AttentionGrid& grid = path.starts_with("encoder.")        ? page_.encoder_self
                                  : path.ends_with(".self_attention") ? page_.decoder_self
                                                                      : page_.cross;
    auto& heads = grid.emplace_back();
    for (int64_t head = 0; head < weights.dim(0); ++head) {
      heads.push_back(weights.rows(head, head + 1).to_vector<float>());  // [T, S]
    }
  }

 private:
  report::AttentionPageData& page_;
};

std::vector<std::string> pieces_of(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    pieces.push_back(vocabulary.piece(id));
  }
  return pieces;
}

}  // namespace

report::AttentionPageData capture_attention(const Translator& translator, const std::string& text,
                                            const Translation& translation) {
  const std::vector<int32_t> source = data::encode_source(translator.source_vocabulary(), text);
  base::check_usage(!source.empty(), "attention: the text is blank; give a sentence");
  const auto limit = static_cast<size_t>(translator.model().config().sizes().max_positions);
  base::check_usage(source.size() <= limit, "attention: the text has {} tokens, the model takes {}; give a shorter one",
                    source.size(), limit);
  std::vector<int32_t> predicted = translation.ids;  // [T]
  if (translation.finish_reason == FinishReason::kEndOfSentence) {
    predicted.push_back(data::kEosId);
  }
  std::vector<int32_t> input = {data::kBosId};  // [T]
  input.insert(input.end(), predicted.begin(), predicted.end() - 1);

  report::AttentionPageData page;
  page.source_text = text;
  page.translation = translation.text;
  page.source_pieces = pieces_of(translator.source_vocabulary(), source);
  page.decoder_pieces = pieces_of(translator.target_vocabulary(), input);
  page.target_pieces = pieces_of(translator.target_vocabulary(), predicted);
  GridRecorder recorder(page);
  nn::ForwardContext context;
  context.observer = &recorder;
  const autograd::NoGrad inference;
  translator.model().forward({models::one_sentence(source), models::one_sentence(input)}, context);
  return page;
}

}  // namespace dragoman::decoding
