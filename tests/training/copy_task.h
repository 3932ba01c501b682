#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decoding/tiny_vocabulary.h"
#include "models/transformer/transformer_config.h"
#include "training/presets.h"
#include "training/task.h"

namespace dragoman::training {

/// Pairs whose target is the source: what a model copies.
class CopiedWords : public data::Examples {
 public:
  explicit CopiedWords(uint64_t size) : size_(size) {
    statistics_.read = statistics_.kept = size;
    for (uint64_t index = 0; index < size; ++index) {
      statistics_.source_tokens += static_cast<uint64_t>(pair(index, 0).source_tokens());
      statistics_.target_tokens += static_cast<uint64_t>(pair(index, 0).target_tokens());
    }
  }
  uint64_t size() const override { return size_; }
  int32_t max_length() const override { return 5; }
  const data::CorpusStatistics& statistics() const override { return statistics_; }
  std::string place(uint64_t line) const override { return "copied words:" + std::to_string(line + 1); }
  data::SentencePair pair(uint64_t index, uint64_t /*epoch*/) const override {
    std::vector<int32_t> words;
    for (uint64_t i = 0; i <= index % 5; ++i) {
      words.push_back(static_cast<int32_t>(4 + (index * 7 + i * 3) % 20));
    }
    std::vector<int32_t> source = words;
    source.push_back(data::kEosId);
    return {index, source, words};
  }
  Window window(std::span<const uint32_t> indices, uint64_t epoch) const override {
    Window window;
    for (uint64_t position = 0; position < indices.size(); ++position) {
      const data::SentencePair one = pair(indices[position], epoch);
      window.sizes.push_back({position, one.source_tokens(), one.target_tokens()});
    }
    return window;
  }

 private:
  uint64_t size_;
  data::CorpusStatistics statistics_;
};

/// Measures the loss of pairs that are not trained on, and nothing else.
class LossOnly : public Validation {
 public:
  bool has_data() const override { return true; }
  ValidationResult run(DataParallel& replicas, const models::Model& /*model*/, distributed::ProcessGroup& /*processes*/,
                       const ValidationLimits& /*limits*/) const override {
    const CopiedWords unseen(30);
    std::vector<data::SentencePair> pairs;
    for (uint64_t index = 20; index < unseen.size(); ++index) {
      pairs.push_back(unseen.pair(index, 0));
    }
    ValidationResult result;
    result.sums = replicas.evaluate(data::cut_batches(pairs, 64));
    return result;
  }
};

/// A task that reads no file.
class CopyTask : public Task {
 public:
  std::string fingerprint() const override { return "the same words always"; }
  std::string validation_fingerprint() const override { return fingerprint(); }
  data::VocabularyPair find_vocabularies(const TrainOptions& /*options*/,
                                         std::vector<std::string>& notes) const override {
    notes.emplace_back("nothing was learned from text");
    return {decoding::vocabulary(), decoding::vocabulary()};
  }
  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& /*vocabularies*/,
                                           const TrainOptions& /*options*/, data::Exchange /*exchange*/) override {
    return std::make_unique<CopiedWords>(20);
  }
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override {
    return next_word_objective(options.loss);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& /*vocabularies*/,
                                         const TrainOptions& /*options*/) const override {
    return std::make_unique<LossOnly>();
  }
  std::vector<std::string> warnings(const data::VocabularyPair& /*vocabularies*/,
                                    const TrainOptions& /*options*/) const override {
    return {"the words are few"};
  }
};

/// A run of a few seconds.
inline TrainOptions options_of(const std::filesystem::path& folder, int64_t steps) {
  TrainOptions options = preset_options("tiny");
  options.model_folder = folder;
  options.model = options.model.with<models::TransformerConfig>([](auto& shape) {
    shape.encoder_layers = shape.decoder_layers = 1;
    shape.d_model = 16;
    shape.d_ff = 32;
    shape.n_heads = 2;
  });
  options.batch.batch_tokens = 64;
  options.schedule.warmup_steps = 1;
  options.run.workers = 1;
  options.run.max_steps = steps;
  options.run.validate_every = 5;
  options.run.log_every = 1;
  options.run.metric = ValidationMetric::kLoss;
  options.run.average = 0;
  return options;
}

}  // namespace dragoman::training
