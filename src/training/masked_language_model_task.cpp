#include "training/masked_language_model_task.h"

#include "data/masked_examples.h"
#include "training/encoder_task.h"
#include "training/encoder_validation.h"
#include "training/running_texts.h"

namespace dragoman::training {
namespace {

data::MaskedTextOptions masked_text_options(const TrainOptions& options) {
  return {options.batch.max_length, options.running_text.across_documents, options.masks, options.run.seed};
}

class MaskedLanguageModelTask : public EncoderTask {
 public:
  explicit MaskedLanguageModelTask(const TrainOptions& options)
      : EncoderTask(options, "masked-language-model", models::EncoderHead::kWords), texts_(options) {
    fingerprint_ = texts_.fingerprint;
    validation_fingerprint_ = texts_.validation_fingerprint;
  }

  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    return std::make_unique<data::MaskedExamples>(
        data::encode_documents(texts_.training, vocabularies.source, options.run.workers), vocabularies.source,
        masked_text_options(options));
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    std::vector<data::SentencePair> pairs;
    if (!texts_.validation.empty()) {
      const data::MaskedExamples examples(
          data::encode_documents(texts_.validation, vocabularies.source, options.run.workers), vocabularies.source,
          masked_text_options(options));
      for (uint64_t index = 0; index < examples.size(); ++index) {
        pairs.push_back(examples.pair(index, data::MaskedExamples::kValidationEpoch));
      }
    }
    return std::make_unique<EncoderValidation>(pairs, options.batch.batch_tokens);
  }

 protected:
  int64_t chosen_rows(int64_t length, const TrainOptions& options) const override {
    return static_cast<int64_t>(options.masks.mask_share * static_cast<double>(length)) + 1;
  }
  std::vector<std::string_view> training_texts() const override {
    return {texts_.training.begin(), texts_.training.end()};
  }

 private:
  RunningTexts texts_;
};

}  // namespace

std::unique_ptr<Task> make_masked_language_model_task(const TrainOptions& options) {
  return std::make_unique<MaskedLanguageModelTask>(options);
}

}  // namespace dragoman::training
