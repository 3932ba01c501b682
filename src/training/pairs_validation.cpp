#include "training/pairs_validation.h"

#include <algorithm>

#include "decoding/translator.h"
#include "models/architectures/architectures.h"

namespace dragoman::training {
namespace {

constexpr size_t kShownPairs = 3;

}  // namespace

PairsValidation::PairsValidation(const TrainOptions& options, data::Vocabulary vocabulary,
                                 std::vector<data::SentencePair> pairs)
    : vocabulary_(std::move(vocabulary)),
      shown_(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(std::min(pairs.size(), kShownPairs))),
      batches_(pairs.empty() ? std::vector<data::Batch>() : data::cut_batches(pairs, options.batch.batch_tokens)),
      workers_(options.run.workers) {}

ValidationResult PairsValidation::run(DataParallel& replicas, const models::Model& model,
                                      distributed::ProcessGroup& processes, const ValidationLimits& limits) const {
  ValidationResult result;
  result.sums = replicas.evaluate(batches_);
  if (limits.gives_back) {
    replicas.give_back_memory();
  }
  if (!processes.leads()) {
    return result;
  }
  std::vector<std::string> inputs;
  for (const data::SentencePair& pair : shown_) {
    inputs.push_back(vocabulary_.decode(std::span(pair.source).first(pair.source.size() - 1)));
    result.samples.push_back({inputs.back(), vocabulary_.decode(pair.target), ""});
  }
  decoding::SearchOptions options;
  options.beam_size = 1;
  options.execution.workers = workers_;
  const auto written =
      decoding::Translator(models::make_inference_model(model), vocabulary_, vocabulary_).translate(inputs, options);
  for (size_t sample = 0; sample < written.size(); ++sample) {
    result.samples[sample].hypothesis = written[sample].text;
  }
  return result;
}

}  // namespace dragoman::training
