#include "training/translation_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "data/encoded_corpus.h"
#include "models/languages.h"
#include "models/model_folder.h"
#include "training/task_model.h"
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

// Of the validation text, whose names say more where a student learns from files of its teacher. None of a model of
// both directions, which has a file on both sides.
std::vector<models::LanguagePair> languages_of_validation(const TrainOptions& options) {
  const bool has_both = std::ranges::any_of(
      options.source, [&](const auto& file) { return std::ranges::count(options.target, file) > 0; });
  return has_both ? std::vector<models::LanguagePair>()
                  : models::pairs_of_files(options.valid_source, options.valid_target);
}

class TranslationTask : public Task {
 public:
  explicit TranslationTask(const TrainOptions& options)
      : text_(options.source, options.target),
        languages_(models::pairs_of_files(options.source, options.target)),
        validation_languages_(languages_of_validation(options)) {
    if (!options.valid_source.empty()) {  // what is wrong with it is said now, not after an hour of encoding
      valid_text_.emplace(options.valid_source, options.valid_target);
    }
  }

  std::string fingerprint() const override { return text_.fingerprint(); }
  std::string validation_fingerprint() const override { return valid_text_ ? valid_text_->fingerprint() : ""; }
  data::VocabularyPair find_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) const override {
    return training::find_vocabularies(options, notes);
  }
  models::ModelConfig shape(const models::ModelConfig& model) const override {
    check_model_suits(models::ModelKind::kEncoderDecoder, "translation", model);
    return model;
  }
  // None of a model of several pairs, such as both directions.
  std::string languages() const override {
    const auto& known = languages_.empty() ? validation_languages_ : languages_;
    return known.size() == 1 ? models::languages_json(known.front()) : "";
  }
  // A model of several languages needs texts that begin with its codes; it is not known whether these do.
  std::string adopt_languages(const std::string& languages) override {
    if (!languages_.empty() || languages.empty()) {
      return "";
    }
    const models::ModelLanguages known = models::languages_from_json(languages, models::kLanguagesName);
    if (known.has_codes() || known.sources.size() != 1 || known.targets.size() != 1) {
      return "";
    }
    languages_ = {known.only_pair()};
    return fmt::format(
        "the languages stay {} to {}, as the model that the run starts from says; the names of the text files do not "
        "end in language codes",
        languages_.front().source, languages_.front().target);
  }
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
  std::vector<models::LanguagePair> languages_;  // that the names of the training text say, or the model before
  std::vector<models::LanguagePair> validation_languages_;
  std::optional<data::ParallelCorpus> valid_text_;
};

}  // namespace

void check_translation(const TrainOptions& options) {
  base::check_usage(options.text.empty(),
                    "train: --text is for language models, text to text and encoders; task {} of the preset {} learns "
                    "from --source and --target; name another --preset or --task",
                    options.task, options.preset);
  base::check_usage(!options.source.empty() && !options.target.empty(),
                    "train: --source and --target name the training text; {} is missing",
                    options.source.empty() ? "--source" : "--target");
  base::check_usage(options.valid_source.empty() == options.valid_target.empty(),
                    "train: --valid-source and --valid-target go together");
  check_no_use(&TrainOptions::masks, options);
  check_no_use(&TrainOptions::whole_texts, options);
  base::check_usage(options.running_text.valid_share == 0.0,
                    "train: --valid-share takes validation text from --text; name that of a translation model with "
                    "--valid-source and --valid-target");
}

std::unique_ptr<Task> make_translation_task(const TrainOptions& options) {
  return std::make_unique<TranslationTask>(options);
}

}  // namespace dragoman::training
