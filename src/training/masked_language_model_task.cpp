#include "training/masked_language_model_task.h"

#include "base/error.h"
#include "base/sha256.h"
#include "data/masked_examples.h"
#include "training/encoder_task.h"
#include "training/encoder_validation.h"

namespace dragoman::training {
namespace {

std::string fingerprint_of_texts(const std::vector<std::string>& documents) {
  base::Sha256 hash;
  for (const std::string& document : documents) {
    hash.update(base::sha256_hex(document));
  }
  return hash.hex();
}

data::MaskedTextOptions masked_text_options(const TrainOptions& options) {
  return {options.batch.max_length, options.running_text.across_documents, options.masks, options.run.seed};
}

class MaskedLanguageModelTask : public EncoderTask {
 public:
  explicit MaskedLanguageModelTask(const TrainOptions& options)
      : EncoderTask(options, "masked-language-model", models::EncoderHead::kWords),
        training_(data::read_documents(options.text, options.running_text)) {
    if (!options.valid_text.empty()) {
      base::check_usage(options.running_text.valid_share == 0.0,
                        "train: --valid-text and --valid-share both name validation text; leave one out");
      validation_ = data::read_documents(options.valid_text, options.running_text);
    } else if (options.running_text.valid_share > 0.0) {
      auto [training, validation] = data::divide(std::move(training_), options.running_text.valid_share);
      training_ = std::move(training);
      validation_ = std::move(validation);
    }
    fingerprint_ = fingerprint_of_texts(training_);
    validation_fingerprint_ = validation_.empty() ? "" : fingerprint_of_texts(validation_);
  }

  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    return std::make_unique<data::MaskedExamples>(
        data::encode_documents(training_, vocabularies.source, options.run.workers), vocabularies.source,
        masked_text_options(options));
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    std::vector<data::SentencePair> pairs;
    if (!validation_.empty()) {
      const data::MaskedExamples examples(data::encode_documents(validation_, vocabularies.source, options.run.workers),
                                          vocabularies.source, masked_text_options(options));
      for (uint64_t index = 0; index < examples.size(); ++index) {
        pairs.push_back(examples.pair(index, data::MaskedExamples::kValidationEpoch));
      }
    }
    return std::make_unique<EncoderValidation>(pairs, options.batch.batch_tokens, std::vector<std::string>());
  }

 protected:
  std::vector<std::string_view> training_texts() const override { return {training_.begin(), training_.end()}; }

 private:
  std::vector<std::string> training_, validation_;
};

}  // namespace

std::unique_ptr<Task> make_masked_language_model_task(const TrainOptions& options) {
  return std::make_unique<MaskedLanguageModelTask>(options);
}

}  // namespace dragoman::training
