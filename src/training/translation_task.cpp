#include "training/translation_task.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "data/encoded_corpus.h"
#include "models/languages.h"
#include "training/translation_validation.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

data::EncodingOptions encoding_options(const TrainOptions& options) {
  data::EncodingOptions encoding;
  encoding.max_length = static_cast<int32_t>(options.batch.max_length - 1);
  encoding.source_sampling = encoding.target_sampling = options.batch.subword_sampling;
  encoding.cache_bytes = static_cast<uint64_t>(options.batch.cache_megabytes) << 20U;
  encoding.seed = options.run.seed;
  encoding.threads = options.run.workers;
  return encoding;
}

class TranslationTask : public Task {
 public:
  explicit TranslationTask(const TrainOptions& options)
      : text_(options.source, options.target),
        languages_(models::languages_of_files(options.source.front(), options.target.front())) {
    if (!options.valid_source.empty()) {  // what is wrong with it is said now, not after an hour of encoding
      valid_text_.emplace(options.valid_source, options.valid_target);
    }
  }

  std::string fingerprint() const override { return text_.fingerprint(); }
  std::string validation_fingerprint() const override { return valid_text_ ? valid_text_->fingerprint() : ""; }
  data::VocabularyPair learn_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) const override {
    return training::learn_vocabularies(options, notes);
  }
  std::string languages() const override { return languages_ ? models::languages_json(*languages_) : ""; }
  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange exchange) override {
    return std::make_unique<data::EncodedCorpus>(std::move(text_), vocabularies.source, vocabularies.target,
                                                 encoding_options(options), std::move(exchange));
  }
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override {
    return next_word_objective(options.loss);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    return std::make_unique<TranslationValidation>(options, vocabularies);
  }
  std::vector<std::string> warnings(const data::VocabularyPair& vocabularies,
                                    const TrainOptions& options) const override {
    const std::string warning = normalization_warning(options.target, vocabularies.target);
    return warning.empty() ? std::vector<std::string>() : std::vector<std::string>{warning};
  }

 private:
  data::ParallelCorpus text_;
  std::optional<models::LanguagePair> languages_;
  std::optional<data::ParallelCorpus> valid_text_;
};

}  // namespace

std::unique_ptr<Task> make_translation_task(const TrainOptions& options) {
  base::check_usage(!options.source.empty() && !options.target.empty(),
                    "train: --source and --target name the training text");
  base::check_usage(options.valid_source.empty() == options.valid_target.empty(),
                    "train: --valid-source and --valid-target go together");
  return std::make_unique<TranslationTask>(options);
}

}  // namespace dragoman::training
