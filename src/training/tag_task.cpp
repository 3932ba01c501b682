#include "training/tag_task.h"

#include <fmt/format.h>

#include <numeric>

#include "base/sha256.h"
#include "data/encoder_input.h"
#include "data/input_examples.h"
#include "training/encoder_task.h"
#include "training/encoder_validation.h"
#include "training/validation_examples.h"

namespace dragoman::training {
namespace {

using data::TaggedWords;

std::string fingerprint_of_tagged(const std::vector<TaggedWords>& sentences) {
  base::Sha256 hash;
  for (const TaggedWords& sentence : sentences) {
    for (size_t word = 0; word < sentence.words.size(); ++word) {
      hash.update(sentence.words[word] + "\t" + sentence.tags[word] + "\n");
    }
    hash.update("\n");
  }
  return hash.hex();
}

class TagTask : public EncoderTask {
 public:
  explicit TagTask(const TrainOptions& options)
      : EncoderTask(options, "tag", models::EncoderHead::kTags),
        training_(data::read_tagged_words(options.text)),
        validation_(
            validation_examples(training_, options, [](const auto& files) { return data::read_tagged_words(files); })) {
    std::vector<std::string> found;
    for (const TaggedWords& sentence : training_) {
      found.insert(found.end(), sentence.tags.begin(), sentence.tags.end());
      words_.push_back(joined_words(sentence));
    }
    set_labels(std::move(found));
    fingerprint_ = fingerprint_of_tagged(training_);
    if (!validation_.empty()) {
      validation_fingerprint_ = fingerprint_of_tagged(validation_);
    }
  }

  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    Inputs inputs = inputs_of(training_, vocabularies.source, options);
    parts_ = inputs.pairs.size() - training_.size();
    return std::make_unique<data::InputExamples>(std::move(inputs.pairs), std::move(inputs.places),
                                                 options.batch.max_length);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    return std::make_unique<EncoderValidation>(inputs_of(validation_, vocabularies.source, options).pairs,
                                               options.batch.batch_tokens);
  }
  std::vector<std::string> warnings(const data::VocabularyPair& /*vocabularies*/,
                                    const TrainOptions& options) const override {
    std::vector<std::string> warnings = {warning_of_empty_labels()};
    if (parts_ > 0) {
      warnings.push_back(
          fmt::format("training sentences longer than {} tokens were cut into parts: there are {} parts "
                      "more than sentences",
                      options.batch.max_length, parts_));
    }
    std::erase(warnings, "");
    return warnings;
  }

 protected:
  int64_t chosen_rows(int64_t length, const TrainOptions& /*options*/) const override { return length; }
  std::vector<std::string_view> training_texts() const override { return {words_.begin(), words_.end()}; }

 private:
  struct Inputs {
    std::vector<data::SentencePair> pairs;
    std::vector<std::string> places;
  };

  static std::string joined_words(const TaggedWords& sentence) {
    std::string all;
    for (const std::string& word : sentence.words) {
      all += word + " ";
    }
    return all;
  }

  Inputs inputs_of(const std::vector<TaggedWords>& sentences, const data::Vocabulary& vocabulary,
                   const TrainOptions& options) const {
    Inputs inputs;
    for (const TaggedWords& sentence : sentences) {
      size_t word = 0;
      for (data::EncoderInput& input : data::word_inputs(vocabulary, sentence.words, options.batch.max_length)) {
        data::SentencePair pair{.line = inputs.pairs.size(), .source = std::move(input.ids), .target = {}};
        for (size_t i = 0; i < input.word_rows.size(); ++i, ++word) {
          pair.target.push_back(label_id(sentence.tags[word], sentence.place));
        }
        pair.after_target = pair.target.back();
        pair.target.pop_back();
        pair.chosen = std::move(input.word_rows);
        inputs.pairs.push_back(std::move(pair));
        inputs.places.push_back(sentence.place);
      }
    }
    return inputs;
  }

  std::vector<TaggedWords> training_, validation_;
  std::vector<std::string> words_;  // of each training sentence, with spaces between them
  uint64_t parts_ = 0;
};

}  // namespace

std::unique_ptr<Task> make_tag_task(const TrainOptions& options) {
  return std::make_unique<TagTask>(options);
}

}  // namespace dragoman::training
