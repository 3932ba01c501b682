#include "training/translation_task.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/encoded_corpus.h"
#include "data/text/text_file.h"
#include "evaluation/evaluate.h"
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

// The reference lines of the validation text.
std::vector<std::string> references_of(const TrainOptions& options) {
  std::vector<std::string> references;
  for (const auto& file : options.valid_target) {
    std::ranges::move(data::read_lines(file), std::back_inserter(references));
  }
  return references;
}

// A warning if BLEU takes whole sentences of the references for words; empty when all is well.
std::string tokenizer_warning(evaluation::Tokenizer tokenize, std::span<const std::string> references) {
  using evaluation::Tokenizer;
  const bool cuts_chinese = tokenize == Tokenizer::kZh || tokenize == Tokenizer::kChar;
  return cuts_chinese || !evaluation::is_mostly_chinese(references)
             ? ""
             : fmt::format(
                   "the validation text is Chinese, but its BLEU is computed with the tokenizer {}, which takes "
                   "sentences without spaces for words; use --tokenize zh",
                   evaluation::tokenizer_name(tokenize));
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
    std::vector<std::string> warnings = {normalization_warning(options.target, vocabularies.target),
                                         tokenizer_warning(options.run.tokenize, references_of(options))};
    std::erase(warnings, "");
    return warnings;
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
