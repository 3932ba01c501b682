#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/labels.h"
#include "models/encoder_only/encoder_only_config.h"
#include "training/task.h"

namespace dragoman::training {

/// What the tasks of encoders share: the vocabulary, the head and its start from another model.
class EncoderTask : public Task {
 public:
  std::string fingerprint() const override { return fingerprint_; }
  std::string validation_fingerprint() const override { return validation_fingerprint_; }
  data::VocabularyPair find_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) const override;
  std::string labels() const override { return labels_.size() == 0 ? "" : labels_.to_json(); }
  std::string adopt_labels(const std::string& labels) override;
  models::ModelConfig shape(const models::ModelConfig& model) const override;
  tensor::NamedTensors initial_weights(tensor::NamedTensors weights, const models::Model& model) const override;
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override;
  data::Batch longest_batch(int64_t tokens, const TrainOptions& options) const override;

 protected:
  /// @param name  of the task, for errors
  EncoderTask(const TrainOptions& options, std::string name, models::EncoderHead head);

  /// Returns: from how many rows of a text of this length the head predicts at most; 0 = from the text as a whole.
  virtual int64_t chosen_rows(int64_t /*length*/, const TrainOptions& /*options*/) const { return 0; }
  /// Returns: the texts from which a vocabulary is learned.
  virtual std::vector<std::string_view> training_texts() const = 0;
  /// Sets the labels that occur in the training text. Throws: Error(kBadData) if there is only one.
  void set_labels(std::vector<std::string> found);
  /// Returns: the id of a label. Throws: Error(kBadData), "valid.tsv:3: label "7" does not occur in the training text,
  /// which has 0, 1, 2".
  int32_t label_id(const std::string& label, const std::string& place) const;
  /// Returns: the labels of the model that no training text has, in words; empty where there are none.
  std::string warning_of_empty_labels() const;
  /// Throws: Error(kUsage) if the vocabulary puts nothing before a text.
  void check_frame(const data::Vocabulary& vocabulary) const;

  std::string name_;
  std::string fingerprint_, validation_fingerprint_;
  data::Labels labels_;

 private:
  void set_pooling(models::EncoderOnlyConfig& config) const;

  models::EncoderHead head_;
  TextPooling pooling_;
  data::Labels found_;      // in the training text
  bool keeps_head_ = true;  // of the model that the run starts from, if it has such a head
};

}  // namespace dragoman::training
