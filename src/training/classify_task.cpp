#include "training/classify_task.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "data/encoder_input.h"
#include "data/input_examples.h"
#include "training/encoder_task.h"
#include "training/encoder_validation.h"
#include "training/validation_examples.h"

namespace dragoman::training {
namespace {

using data::LabelledText;

std::string fingerprint_of_labelled(const std::vector<LabelledText>& texts) {
  base::Sha256 hash;
  for (const LabelledText& text : texts) {
    hash.update(base::sha256_hex(text.label + "\t" + text.text.first + "\t" + text.text.second.value_or("")));
  }
  return hash.hex();
}

class ClassifyTask : public EncoderTask {
 public:
  explicit ClassifyTask(const TrainOptions& options)
      : EncoderTask(options, "classify", models::EncoderHead::kClasses),
        training_(data::read_labelled_texts(options.text)),
        validation_(validation_examples(training_, options, data::read_labelled_texts)) {
    std::vector<std::string> found;
    for (const LabelledText& text : training_) {
      found.push_back(text.label);
    }
    set_labels(std::move(found));
    fingerprint_ = fingerprint_of_labelled(training_);
    if (!validation_.empty()) {
      validation_fingerprint_ = fingerprint_of_labelled(validation_);
      for (const LabelledText& text : validation_) {
        static_cast<void>(label_id(text.label, text.place));
      }
    }
  }

  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    check_frame(vocabularies.source);
    std::vector<std::string> places;
    for (const LabelledText& text : training_) {
      places.push_back(text.place);
    }
    return std::make_unique<data::InputExamples>(pairs_of(training_, vocabularies.source, options, cut_),
                                                 std::move(places), options.batch.max_length);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    uint64_t cut = 0;
    const std::vector<data::SentencePair> pairs = pairs_of(validation_, vocabularies.source, options, cut);
    return std::make_unique<EncoderValidation>(pairs, options.batch.batch_tokens);
  }
  std::vector<std::string> warnings(const data::VocabularyPair& /*vocabularies*/,
                                    const TrainOptions& options) const override {
    std::vector<std::string> warnings = {warning_of_empty_labels()};
    if (cut_ > 0) {
      warnings.push_back(
          fmt::format("{} of {} training texts are longer than {} tokens and lose their end; "
                      "--max-length raises that",
                      cut_, training_.size(), options.batch.max_length));
    }
    std::erase(warnings, "");
    return warnings;
  }

 protected:
  std::vector<std::string_view> training_texts() const override {
    std::vector<std::string_view> texts;
    for (const LabelledText& text : training_) {
      texts.emplace_back(text.text.first);
      if (text.text.second) {
        texts.emplace_back(*text.text.second);
      }
    }
    return texts;
  }

 private:
  std::vector<data::SentencePair> pairs_of(const std::vector<LabelledText>& texts, const data::Vocabulary& vocabulary,
                                           const TrainOptions& options, uint64_t& cut) const {
    std::vector<data::SentencePair> pairs;
    for (const LabelledText& text : texts) {
      data::EncoderInput input = data::encoder_input(vocabulary, text.text, options.batch.max_length);
      cut += input.is_cut ? 1 : 0;
      pairs.push_back({.line = pairs.size(),
                       .source = std::move(input.ids),
                       .target = {},
                       .after_target = label_id(text.label, text.place),
                       .second_begin = input.second_begin});
    }
    return pairs;
  }

  std::vector<LabelledText> training_, validation_;
  uint64_t cut_ = 0;
};

}  // namespace

std::unique_ptr<Task> make_classify_task(const TrainOptions& options) {
  return std::make_unique<ClassifyTask>(options);
}

}  // namespace dragoman::training
