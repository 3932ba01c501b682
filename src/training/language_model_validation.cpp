#include "training/language_model_validation.h"

#include <algorithm>
#include <numbers>

#include "base/error.h"
#include "decoding/generator.h"
#include "models/architectures/architectures.h"

namespace dragoman::training {
namespace {

constexpr uint64_t kSamples = 3;
constexpr int64_t kPromptTokens = 32;
constexpr int64_t kNewTokens = 100;

}  // namespace

LanguageModelValidation::LanguageModelValidation(const TrainOptions& options, data::Vocabulary vocabulary,
                                                 data::TokenText text)
    : vocabulary_(std::move(vocabulary)),
      text_(std::move(text)),
      context_(options.batch.max_length),
      seed_(options.run.seed),
      workers_(options.run.workers) {
  base::check_data(text_.size() != 1, "validation text: 1 token, at least 2 are needed to measure a loss");
  if (text_.size() >= 2) {
    batches_ = data::all_windows(text_, {context_}, std::max(options.batch.batch_tokens / 2, context_));
  }
}

ValidationResult LanguageModelValidation::run(DataParallel& replicas, const models::Model& model,
                                              distributed::ProcessGroup& processes,
                                              const ValidationLimits& limits) const {
  ValidationResult result;
  result.sums = replicas.evaluate(batches_);
  result.bits_per_byte = result.sums.nll / std::numbers::ln2 / static_cast<double>(text_.bytes);
  if (limits.gives_back) {
    replicas.give_back_memory();
  }
  if (processes.leads()) {
    result.samples = samples(model);
  }
  return result;
}

// Continues the text at places spread over it.
std::vector<report::SampleTranslation> LanguageModelValidation::samples(const models::Model& model) const {
  const decoding::Generator generator(models::make_inference_model(model), vocabulary_);
  const int64_t prompt_tokens = std::min<int64_t>({kPromptTokens, context_ / 2, static_cast<int64_t>(text_.size())});
  std::vector<decoding::GenerationRequest> requests;
  std::vector<report::SampleTranslation> samples;
  for (uint64_t sample = 0; sample < kSamples; ++sample) {
    const uint64_t begin = sample * text_.size() / kSamples;
    const auto ids = std::span(text_.ids).subspan(begin);
    const auto prompt = ids.first(std::min<size_t>(ids.size(), static_cast<size_t>(prompt_tokens)));
    const auto rest =
        ids.subspan(prompt.size()).first(std::min<size_t>(ids.size() - prompt.size(), static_cast<size_t>(kNewTokens)));
    requests.push_back({.prompt_ids = {prompt.begin(), prompt.end()}});
    samples.push_back({vocabulary_.decode(prompt), vocabulary_.decode(rest), ""});
  }
  decoding::GenerationOptions options;
  options.max_tokens = kNewTokens;
  options.search.sampling.seed = seed_;
  options.search.output.scores = false;
  options.search.execution.workers = workers_;
  const auto continuations = generator.generate(requests, options);
  for (size_t sample = 0; sample < samples.size(); ++sample) {
    samples[sample].hypothesis = continuations[sample].text;
  }
  return samples;
}

}  // namespace dragoman::training
