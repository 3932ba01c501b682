#include "decoding/inspection/attention_capture.h"

#include "base/error.h"
#include "data/vocabulary/shown_pieces.h"
#include "decoding/steps/teacher_forcing.h"

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

// Pieces whose spaces and line ends can be seen.
std::vector<std::string> visible_pieces(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> pieces = data::shown_pieces(vocabulary, ids);
  for (std::string& piece : pieces) {
    std::string visible;
    for (const char c : piece) {
      visible += c == ' ' ? "\u2423" : c == '\n' ? "\u23CE" : c == '\t' ? "\u21E5" : std::string(1, c);
    }
    piece = std::move(visible);
  }
  return pieces;
}

}  // namespace

report::AttentionPageData capture_attention(const Translator& translator, const std::string& text,
                                            const Translation& translation, const LanguageTokens& languages) {
  const std::vector<int32_t> source = encode_source(translator.source_vocabulary(), text, languages);
  base::check_usage(!source.empty(), "attention: the text is blank; give a sentence");
  const auto limit = static_cast<size_t>(translator.model().config().sizes().max_positions);
  base::check_usage(source.size() <= limit, "attention: the text has {} tokens, the model takes {}; give a shorter one",
                    source.size(), limit);
  std::vector<int32_t> predicted = translation.ids;  // [T]
  if (translation.finish_reason == FinishReason::kEndOfSentence) {
    predicted.push_back(data::kEosId);
  }
  const std::vector<int32_t> input = teacher_forced_input(predicted);  // [T]

  report::AttentionPageData page;
  page.source_text = text;
  page.translation = translation.text;
  page.source_pieces = translator.source_vocabulary().pieces(source);
  page.decoder_pieces = translator.target_vocabulary().pieces(input);
  page.target_pieces = translator.target_vocabulary().pieces(predicted);
  GridRecorder recorder(page);
  observe_pair(translator.model(), source, input, recorder);
  return page;
}

report::AttentionPageData capture_attention(const Generator& generator, const std::string& prompt,
                                            const Continuation& continuation) {
  std::vector<int32_t> text = continuation.prompt_ids;  // [T + 1] and, after the last row, what it predicts
  text.insert(text.end(), continuation.ids.begin(), continuation.ids.end());
  const std::vector<int32_t>& ends = generator.vocabulary().special().eos;
  if (continuation.finish_reason == FinishReason::kEndOfSentence && !ends.empty()) {
    text.push_back(ends.front());
  }
  base::check_usage(text.size() > 1, "attention: the prompt is blank; give a text that the model goes on with");
  const std::span<const int32_t> input = std::span(text).first(text.size() - 1);  // [T]

  report::AttentionPageData page;
  page.source_text = prompt;
  page.translation = continuation.text;
  page.decoder_pieces = visible_pieces(generator.vocabulary(), input);
  page.target_pieces = visible_pieces(generator.vocabulary(), std::span(text).subspan(1));
  GridRecorder recorder(page);
  observe_pair(generator.model(), {}, input, recorder);
  return page;
}

}  // namespace dragoman::decoding
