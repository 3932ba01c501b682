#include "training/embed_validation.h"

#include <array>

#include "decoding/text_encoder.h"
#include "evaluation/vector_scores.h"
#include "models/architectures/architectures.h"

namespace dragoman::training {

EmbedValidation::EmbedValidation(TextPairs texts, const data::PairGroups* groups, data::Vocabulary vocabulary,
                                 const TrainOptions& options)
    : texts_(std::move(texts)), vocabulary_(std::move(vocabulary)), workers_(options.run.workers) {
  std::vector<data::SentencePair> examples;
  for (uint64_t index = 0; groups != nullptr && index < groups->size(); ++index) {
    examples.push_back(groups->pair(index, data::PairGroups::kInOrder));
  }
  batches_ = data::cut_batches(examples, options.batch.batch_tokens);
}

ValidationResult EmbedValidation::run(DataParallel& replicas, const models::Model& model,
                                      distributed::ProcessGroup& processes, const ValidationLimits& limits) const {
  constexpr double kPercent = 100.0;
  ValidationResult result;
  result.sums = replicas.evaluate(batches_);
  if (limits.gives_back) {
    replicas.give_back_memory();
  }
  const decoding::TextEncoder encoder(
      std::dynamic_pointer_cast<const models::EncoderOnly>(models::make_inference_model(model)), vocabulary_);
  const auto vectors_of = [&](const std::vector<std::string>& texts) {
    decoding::Embeddings embeddings = encoder.embed(texts, {.workers = workers_});
    return evaluation::VectorRows{std::move(embeddings.values), static_cast<size_t>(embeddings.width)};
  };
  std::array<double, 2> scores{};
  for (const evaluation::RightRank& rank :
       evaluation::ranks_of_right(vectors_of(texts_.left), vectors_of(texts_.right))) {
    scores[0] += kPercent * rank.is_first() / static_cast<double>(texts_.left.size());
    scores[1] += kPercent * rank.reciprocal() / static_cast<double>(texts_.left.size());
  }
  processes.broadcast(scores);  // processors may differ in the last bit, decisions must not
  result.accuracy = scores[0];
  result.mrr = scores[1];
  return result;
}

}  // namespace dragoman::training
