#include "training/encoder_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "data/vocabulary/tokenizer_file.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "data/vocabulary/word_piece_trainer.h"
#include "models/model_tensors.h"
#include "training/batch_fit.h"
#include "training/task_model.h"

namespace dragoman::training {
namespace {

using models::EncoderHead;
using models::EncoderOnlyConfig;

bool is_of_head(std::string_view path) {
  return path.starts_with("output.") || path.starts_with("transform.") || path.starts_with("pooler.");
}

}  // namespace

EncoderTask::EncoderTask(const TrainOptions& options, std::string name, EncoderHead head)
    : name_(std::move(name)), head_(head), pooling_(options.whole_texts.pooling) {}

data::VocabularyPair EncoderTask::find_vocabularies(const TrainOptions& options,
                                                    std::vector<std::string>& notes) const {
  if (!options.tokenizer.empty()) {
    const data::Vocabulary given = data::read_tokenizer_file(options.tokenizer);
    return {given, given};
  }
  const std::vector<std::string_view> texts = training_texts();
  if (options.vocabulary.type == data::VocabularyOptions::Type::kCharacters) {
    base::check_usage(!options.masks.whole_words, "train: --whole-word-masks needs pieces of words, not characters");
    const data::Vocabulary characters =
        data::character_tokenizer(fmt::format("{}", fmt::join(texts, "")), {.of_encoder = true});
    return {characters, characters};
  }
  data::WordPieceOptions wanted;
  wanted.size = options.vocabulary.size;
  wanted.character_coverage = options.vocabulary.character_coverage;
  if (options.vocabulary.normalization == "identity") {
    wanted.cleaning.lower_cases = wanted.cleaning.strips_accents = false;
  }
  const data::Vocabulary learned = data::train_word_piece(texts, wanted);
  if (learned.size() < wanted.size) {
    notes.push_back(
        fmt::format("vocabulary: {} pieces were asked for, the text yields {}", wanted.size, learned.size()));
  }
  return {learned, learned};
}

void EncoderTask::set_labels(std::vector<std::string> found) {
  const std::string example = found.empty() ? "" : found.front();
  labels_ = found_ = data::labels_of(std::move(found));
  base::check_data(labels_.size() > 1,
                   "train: all of the training text has the label \"{}\"; there must be at least two labels to tell "
                   "apart",
                   example);
}

int32_t EncoderTask::label_id(const std::string& label, const std::string& place) const {
  const int32_t id = labels_.id(label);
  base::check_data(id >= 0, "{}: label \"{}\" does not occur in the training text, which has {}", place, label,
                   labels_.listed());
  return id;
}

std::string EncoderTask::adopt_labels(const std::string& labels) {
  keeps_head_ = true;
  if (labels.empty() || labels_.size() == 0) {
    keeps_head_ = labels_.size() == 0;
    return "";
  }
  data::Labels known = data::Labels::from_json(labels, "labels.json");
  const auto is_known = [&](const std::string& label) { return known.id(label) >= 0; };
  keeps_head_ = std::ranges::all_of(found_.names(), is_known);
  if (keeps_head_) {
    labels_ = std::move(known);
    return "";
  }
  return fmt::format(
      "the model that the run starts from knows the labels {}, the training text has {}: the head "
      "begins anew",
      known.listed(), found_.listed());
}

models::ModelConfig EncoderTask::shape(const models::ModelConfig& model) const {
  check_model_suits(models::ModelKind::kEncoder, name_, model);
  return model.with<EncoderOnlyConfig>([&](EncoderOnlyConfig& config) {
    config.head = head_;
    config.n_labels = labels_.size();
    set_pooling(config);
  });
}

// A pooler is there where texts go through it. A model to be fine-tuned may have one for a head that it has not.
void EncoderTask::set_pooling(EncoderOnlyConfig& config) const {
  using models::Pooling;
  const bool has_classes = head_ == EncoderHead::kClasses;
  if (!has_classes && head_ != EncoderHead::kNone) {
    return;
  }
  Pooling& pooling = has_classes ? config.class_pooling : config.pooling;
  switch (pooling_) {
    case TextPooling::kOfModel:
      break;
    case TextPooling::kMean:
      pooling = Pooling::kMean;
      break;
    case TextPooling::kFirst:
      pooling = Pooling::kFirst;
      break;
    case TextPooling::kPooler:
      pooling = Pooling::kPooler;
      break;
  }
  if (pooling != Pooling::kPooler && config.pooling != Pooling::kPooler) {
    config.pooler = models::Pooler::kNone;
  } else if (config.pooler == models::Pooler::kNone) {
    config.pooler = models::Pooler::kTanh;
  }
}

tensor::NamedTensors EncoderTask::initial_weights(tensor::NamedTensors weights, const models::Model& model) const {
  const tensor::NamedTensors drawn = models::named_tensors(model.parameters());
  std::erase_if(weights, [&](const auto& named) { return is_of_head(named.first) && !drawn.contains(named.first); });
  for (const auto& [path, value] : drawn) {
    const auto found = weights.find(path);
    const bool is_output = path.starts_with("output.");
    const bool fits = found != weights.end() && found->second.shape() == value.shape() && (keeps_head_ || !is_output);
    if (is_of_head(path) && !fits) {
      weights[path] = value.clone();
    }
  }
  return weights;
}

std::unique_ptr<const Objective> EncoderTask::objective(const TrainOptions& options) const {
  return next_word_objective(options.loss);
}

data::Batch EncoderTask::longest_batch(int64_t tokens, const TrainOptions& options) const {
  data::Batch batch;
  for (int64_t left = tokens; left > 0; left -= options.batch.max_length) {
    const int64_t length = std::min(left, options.batch.max_length);
    const int64_t chosen = std::min(chosen_rows(length, options), length);
    data::SentencePair text{.line = static_cast<uint64_t>(batch.sentences()),
                            .source = batch_words(length, options.model.sizes().source_vocab_size),
                            .target = {},
                            .after_target = 0};
    text.target.resize(static_cast<size_t>(std::max<int64_t>(chosen, 1) - 1));
    for (int32_t row = 0; row < chosen; ++row) {
      text.chosen.push_back(row);
    }
    data::append(batch, text);
  }
  return batch;
}

std::string EncoderTask::warning_of_empty_labels() const {
  std::vector<std::string> missing;
  std::ranges::copy_if(labels_.names(), std::back_inserter(missing),
                       [&](const std::string& label) { return found_.id(label) < 0; });
  return missing.empty() ? ""
                         : fmt::format("no training text has the labels {}, which the model knows: it will forget them",
                                       data::Labels(missing).listed());
}

void EncoderTask::check_frame(const data::Vocabulary& vocabulary) const {
  base::check_usage(vocabulary.frame().first >= 0,
                    "train: the tokenizer puts no piece such as [CLS] before a text, which task {} needs; give the "
                    "--tokenizer of an encoder, or none",
                    name_);
}

}  // namespace dragoman::training
