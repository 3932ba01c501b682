#include "training/text_to_text_task.h"

#include <utility>

#include "base/error.h"
#include "data/span_corruption.h"
#include "data/tab_pairs.h"
#include "data/vocabulary/sentinels.h"
#include "data/vocabulary/tokenizer_file.h"
#include "training/pairs_validation.h"
#include "training/running_texts.h"
#include "training/task_model.h"
#include "training/validation_examples.h"

namespace dragoman::training {
namespace {

constexpr int64_t kSentinels = 100;  // Raffel et al. 2020

std::string fingerprint_of(const std::vector<data::TabPair>& pairs) {
  std::vector<std::string> texts;
  for (const data::TabPair& pair : pairs) {
    texts.push_back(pair.input + "\t" + pair.target);
  }
  return fingerprint_of_texts(texts);
}

data::VocabularyPair learn_joint(const TrainOptions& options, std::vector<std::string>& notes) {
  if (!options.tokenizer.empty()) {
    const data::Vocabulary given = data::read_tokenizer_file(options.tokenizer);
    const bool has_sentinels = !data::sentinel_ids(given).empty();
    const data::Vocabulary vocabulary = has_sentinels ? given : data::with_sentinels(given, kSentinels);
    return {vocabulary, vocabulary};
  }
  data::VocabularyOptions wanted = options.vocabulary;
  wanted.seed = options.run.seed;
  data::TrainedVocabulary learned = data::train_vocabulary(options.text, wanted);
  if (!learned.note.empty()) {
    notes.push_back(learned.note);
  }
  const data::Vocabulary vocabulary = data::with_sentinels(learned.vocabulary, kSentinels);
  return {vocabulary, vocabulary};
}

class SpanCorruptionTask : public Task {
 public:
  explicit SpanCorruptionTask(const TrainOptions& options) : texts_(options) {}

  std::string fingerprint() const override { return texts_.fingerprint; }
  std::string validation_fingerprint() const override { return texts_.validation_fingerprint; }
  data::VocabularyPair find_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) const override {
    return learn_joint(options, notes);
  }
  models::ModelConfig shape(const models::ModelConfig& model) const override {
    check_model_suits(models::ModelKind::kEncoderDecoder, "span-corruption", model);
    return model;
  }
  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    return corrupted(std::exchange(texts_.training, {}), vocabularies.target, options, options.run.seed);
  }
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override {
    return next_word_objective(options.loss);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    std::vector<data::SentencePair> pairs;
    if (!texts_.validation.empty()) {
      const auto windows = corrupted(texts_.validation, vocabularies.target, options, kValidationSpanSeed);
      for (uint64_t index = 0; index < windows->size(); ++index) {
        pairs.push_back(windows->pair(index, 0));
      }
    }
    return std::make_unique<PairsValidation>(options, vocabularies.target, std::move(pairs));
  }

 private:
  static std::unique_ptr<data::CorruptedWindows> corrupted(const std::vector<std::string>& documents,
                                                           const data::Vocabulary& vocabulary,
                                                           const TrainOptions& options, uint64_t seed) {
    data::CorruptionOptions corruption;
    corruption.length = options.batch.max_length;
    corruption.seed = seed;
    return std::make_unique<data::CorruptedWindows>(data::encode_documents(documents, vocabulary, options.run.workers),
                                                    data::sentinel_ids(vocabulary), vocabulary.special(), corruption);
  }

  RunningTexts texts_;
};

class TextToTextTask : public Task {
 public:
  explicit TextToTextTask(const TrainOptions& options)
      : training_(data::read_tab_pairs(options.text)),
        validation_(validation_examples(training_, options, data::read_tab_pairs)),
        fingerprint_(fingerprint_of(training_)) {}

  std::string fingerprint() const override { return fingerprint_; }
  std::string validation_fingerprint() const override { return validation_.empty() ? "" : fingerprint_of(validation_); }
  data::VocabularyPair find_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) const override {
    return learn_joint(options, notes);
  }
  models::ModelConfig shape(const models::ModelConfig& model) const override {
    check_model_suits(models::ModelKind::kEncoderDecoder, "text-to-text", model);
    return model;
  }
  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    return std::make_unique<data::TabPairs>(std::exchange(training_, {}), vocabularies.target,
                                            options.batch.max_length);
  }
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override {
    return next_word_objective(options.loss);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    std::vector<data::SentencePair> pairs;
    if (!validation_.empty()) {
      pairs = data::TabPairs(validation_, vocabularies.target, options.batch.max_length).pairs();
    }
    return std::make_unique<PairsValidation>(options, vocabularies.target, std::move(pairs));
  }

 private:
  std::vector<data::TabPair> training_;
  std::vector<data::TabPair> validation_;
  std::string fingerprint_;
};

}  // namespace

void check_text_to_text(const TrainOptions& options) {
  check_reads_text(options);
  base::check_usage(options.joint_vocabulary,
                    "train: task {} has one vocabulary for both sides; leave out the flag "
                    "that asks for two",
                    options.task);
}

std::unique_ptr<Task> make_span_corruption_task(const TrainOptions& options) {
  return std::make_unique<SpanCorruptionTask>(options);
}

std::unique_ptr<Task> make_text_to_text_task(const TrainOptions& options) {
  return std::make_unique<TextToTextTask>(options);
}

}  // namespace dragoman::training
