#include "training/language_model_task.h"

#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "data/text_windows.h"
#include "data/vocabulary/byte_bpe_trainer.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "training/language_model_validation.h"

namespace dragoman::training {
namespace {

std::string fingerprint_of(const std::vector<std::string>& documents) {
  base::Sha256 hash;
  for (const std::string& document : documents) {
    hash.update(base::sha256_hex(document));
  }
  return hash.hex();
}

std::string joined(const std::vector<std::string>& documents) {
  std::string all;
  for (const std::string& document : documents) {
    all += document;
  }
  return all;
}

data::WindowOptions window_options(const TrainOptions& options) {
  return {options.batch.max_length, options.running_text.across_documents, options.run.seed};
}

class LanguageModelTask : public Task {
 public:
  explicit LanguageModelTask(const TrainOptions& options) {
    training_ = data::read_documents(options.text, options.running_text);
    if (!options.valid_text.empty()) {
      validation_ = data::read_documents(options.valid_text, options.running_text);
    } else if (options.running_text.valid_share > 0.0) {
      auto [training, validation] = data::divide(std::move(training_), options.running_text.valid_share);
      training_ = std::move(training);
      validation_ = std::move(validation);
    }
    fingerprint_ = fingerprint_of(training_);
  }

  std::string fingerprint() const override { return fingerprint_; }
  std::string validation_fingerprint() const override { return validation_.empty() ? "" : fingerprint_of(validation_); }
  data::VocabularyPair learn_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) const override {
    const data::Vocabulary learned =
        options.tokenizer.empty() ? learn(options, notes) : data::Vocabulary::from_file(options.tokenizer);
    return {learned, learned};
  }
  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    data::TokenText text =
        data::encode_documents(std::exchange(training_, {}), vocabularies.target, options.run.workers);
    return std::make_unique<data::TextWindows>(std::move(text), window_options(options));
  }
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override {
    return next_word_objective(options.loss);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    data::TokenText text;
    if (!validation_.empty()) {
      text = data::encode_documents(validation_, vocabularies.target, options.run.workers);
    }
    return std::make_unique<LanguageModelValidation>(options, vocabularies.target, std::move(text));
  }

 private:
  // Characters of validation text that the training text lacks belong to the vocabulary too, so that its loss is
  // finite.
  data::Vocabulary learn(const TrainOptions& options, std::vector<std::string>& notes) const {
    using Type = data::VocabularyOptions::Type;
    const bool separates = options.running_text.documents != data::DocumentKind::kFile;
    if (options.vocabulary.type == Type::kCharacters) {
      return data::character_tokenizer(joined(training_) + joined(validation_), {.with_end_of_text = separates});
    }
    if (options.vocabulary.type == Type::kByteBpe) {
      const std::vector<std::string_view> texts(training_.begin(), training_.end());
      return data::train_byte_bpe(texts, {.size = options.vocabulary.size, .threads = options.run.workers});
    }
    data::TrainedVocabulary learned = data::train_vocabulary(options.text, options.vocabulary);
    if (!learned.note.empty()) {
      notes.push_back(learned.note);
    }
    return learned.vocabulary;
  }

  std::vector<std::string> training_;
  std::vector<std::string> validation_;
  std::string fingerprint_;
};

}  // namespace

std::unique_ptr<Task> make_language_model_task(const TrainOptions& options) {
  base::check_usage(!options.text.empty(), "train: --text names the text of a language model");
  base::check_usage(options.source.empty() && options.target.empty(),
                    "train: --source and --target are for translation; a language model learns from --text");
  base::check_usage(options.valid_text.empty() || options.running_text.valid_share == 0.0,
                    "train: --valid-text and --valid-share both name validation text; leave one out");
  return std::make_unique<LanguageModelTask>(options);
}

}  // namespace dragoman::training
