#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/examples.h"
#include "data/exchange.h"
#include "data/vocabulary/vocabulary.h"
#include "models/model.h"
#include "tensor/safetensors.h"
#include "training/batch_fit.h"
#include "training/objective.h"
#include "training/train_options.h"
#include "training/validation.h"

namespace dragoman::training {

/// What the text files of a run mean. A task turns them into examples, an objective and a validation; the trainer knows
/// these three and nothing else of the text. docs/add_a_task.md leads through adding one.
///
/// The functions stand in the order in which a run calls them. `options` are those of the run: workers and vocabulary
/// sizes are filled in as they become known.
class Task {
 public:
  virtual ~Task() = default;

  /// Returns: hashes of the training text and of the validation text. A resumed run must find the first unchanged;
  /// several processes must agree about both.
  virtual std::string fingerprint() const = 0;
  virtual std::string validation_fingerprint() const = 0;
  /// Reads the tokenizers that the options name, or learns the vocabularies of the training text. What came out
  /// differently than asked goes to `notes`.
  virtual data::VocabularyPair find_vocabularies(const TrainOptions& options,
                                                 std::vector<std::string>& notes) const = 0;
  /// Returns: the text of languages.json; empty where it is not known.
  virtual std::string languages() const { return ""; }
  /// Takes the languages of the model that a new run starts from, if the text files do not say theirs.
  /// @param languages  text of languages.json; empty for none.  Returns: what a person should know; empty for nothing
  virtual std::string adopt_languages(const std::string& /*languages*/) { return ""; }
  /// Returns: the text of labels.json, the names of what the model tells apart; empty where there are none.
  virtual std::string labels() const { return ""; }
  /// Takes the labels of the model that a run starts from or goes on with, if they suit the training text.
  /// @param labels  text of labels.json; empty for none.  Returns: what a person should know; empty for nothing
  virtual std::string adopt_labels(const std::string& /*labels*/) { return ""; }
  /// Returns: `model` with what the task decides of its shape, such as the head of an encoder.
  /// Throws: Error(kUsage) for an architecture that the task cannot train.
  virtual models::ModelConfig shape(const models::ModelConfig& model) const { return model; }
  /// Returns: the tensors of the model that a run starts from, as the model of shape() takes them: what it lacks is
  /// there as `model` has drawn it, what it has too much is left out.
  virtual tensor::NamedTensors initial_weights(tensor::NamedTensors weights, const models::Model& /*model*/) const {
    return weights;
  }
  /// Encodes the training text. Called once. Throws: Error(kBadData) if no example is left.
  virtual std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies,
                                                   const TrainOptions& options, data::Exchange exchange) = 0;
  virtual std::unique_ptr<const Objective> objective(const TrainOptions& options) const = 0;
  /// Returns: among how many answers the model chooses. The loss of a model that guesses is the logarithm of it.
  virtual int64_t choices(const models::Model& model, const TrainOptions& /*options*/) const {
    return model.output().weight.shape()[0];
  }
  /// Returns: the batch of `tokens` tokens on a side that takes most memory: texts of the greatest length.
  virtual data::Batch longest_batch(int64_t tokens, const TrainOptions& options) const {
    const models::ModelSizes model = options.model.sizes();
    return training::longest_batch(tokens, options.batch.max_length, model.source_vocab_size, model.target_vocab_size);
  }
  /// Returns: tokens of the longest example, within which no batch is cut.
  virtual int64_t longest_example(const TrainOptions& options) const { return options.batch.max_length; }
  virtual std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                                 const TrainOptions& options) const = 0;
  /// Returns: what a person should be told of the text before the first update.
  virtual std::vector<std::string> warnings(const data::VocabularyPair& /*vocabularies*/,
                                            const TrainOptions& /*options*/) const {
    return {};
  }
};

}  // namespace dragoman::training
