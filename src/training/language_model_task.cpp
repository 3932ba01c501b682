#include "training/language_model_task.h"

#include <utility>

#include "base/error.h"
#include "data/text_windows.h"
#include "data/vocabulary/byte_bpe_trainer.h"
#include "data/vocabulary/tokenizer_file.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "training/language_model_validation.h"
#include "training/running_texts.h"
#include "training/task_model.h"

namespace dragoman::training {
namespace {

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
  explicit LanguageModelTask(const TrainOptions& options) : texts_(options) {}

  std::string fingerprint() const override { return texts_.fingerprint; }
  std::string validation_fingerprint() const override { return texts_.validation_fingerprint; }
  data::VocabularyPair find_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) const override {
    const data::Vocabulary learned =
        options.tokenizer.empty() ? learn(options, notes) : data::read_tokenizer_file(options.tokenizer);
    return {learned, learned};
  }
  models::ModelConfig shape(const models::ModelConfig& model) const override {
    check_model_suits(models::ModelKind::kDecoder, "language-model", model);
    return model;
  }
  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    data::TokenText text =
        data::encode_documents(std::exchange(texts_.training, {}), vocabularies.target, options.run.workers);
    return std::make_unique<data::TextWindows>(std::move(text), window_options(options));
  }
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override {
    return next_word_objective(options.loss);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    data::TokenText text;
    if (!texts_.validation.empty()) {
      text = data::encode_documents(texts_.validation, vocabularies.target, options.run.workers);
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
      return data::character_tokenizer(joined(texts_.training) + joined(texts_.validation),
                                       {.with_end_of_text = separates});
    }
    if (options.vocabulary.type == Type::kByteBpe) {
      const std::vector<std::string_view> texts(texts_.training.begin(), texts_.training.end());
      return data::train_byte_bpe(texts, {.size = options.vocabulary.size, .threads = options.run.workers});
    }
    data::TrainedVocabulary learned = data::train_vocabulary(options.text, options.vocabulary);
    if (!learned.note.empty()) {
      notes.push_back(learned.note);
    }
    return learned.vocabulary;
  }

  RunningTexts texts_;
};

}  // namespace

void check_language_model(const TrainOptions& options) {
  check_reads_text(options);
  check_no_use(&TrainOptions::masks, options);
  check_no_use(&TrainOptions::whole_texts, options);
}

std::unique_ptr<Task> make_language_model_task(const TrainOptions& options) {
  return std::make_unique<LanguageModelTask>(options);
}

}  // namespace dragoman::training
