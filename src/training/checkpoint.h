#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/model_folder.h"
#include "training/run_state.h"

namespace dragoman::training {

/// What goes into a model folder beside the tensors.
struct ModelTexts {
  std::string config;  ///< config.json
  models::VocabularyFiles vocabularies;
  std::string languages{};  ///< languages.json; empty when they are not known
  std::string labels{};     ///< labels.json; empty where outputs have no names
  bool operator==(const ModelTexts&) const = default;
};

/// What a checkpoint holds beside the model: moments and, when it is on, the moving average, all [total] float32 flat.
struct OptimizerTensors {
  tensor::Tensor first_moment;
  tensor::Tensor second_moment;
  tensor::Tensor average;  ///< undefined when off
};

/// A checkpoint as found on disk.
struct Checkpoint {
  std::filesystem::path folder;
  RunState state;
  std::string recipe;  ///< recipe.json
  ModelTexts texts;
};

/// Makes a folder for a model, and those above it. Throws Error(kCannotWrite): "DIR: cannot create the model folder:
/// ...".
void make_model_folder(const std::filesystem::path& folder);

/// MODEL/checkpoints
std::filesystem::path checkpoints_folder(const std::filesystem::path& model_folder);
/// MODEL/checkpoints/step-N
std::filesystem::path checkpoint_folder(const std::filesystem::path& model_folder, int64_t step);

/// Steps of the checkpoints in MODEL/checkpoints, ascending; leftovers of interrupted writes are not among them.
std::vector<int64_t> list_checkpoints(const std::filesystem::path& model_folder);

/// Writes checkpoints/step-N aside, fsyncs, renames (docs/checkpoint_format.md). Throws Error(kCannotWrite); the
/// checkpoints that are there stay untouched.
void save_checkpoint(const std::filesystem::path& model_folder, const models::Model& model,
                     const OptimizerTensors& optimizer, const Checkpoint& contents);

/// The newest checkpoint whose every file matches its manifest; damaged ones are reported through `notes` and passed
/// over. Empty when there is none.
std::optional<Checkpoint> find_newest_checkpoint(const std::filesystem::path& model_folder,
                                                 std::vector<std::string>& notes);

/// Fills the weights of `model` and the tensors of `optimizer` from a checkpoint found before.
void load_checkpoint(const Checkpoint& checkpoint, models::Model& model, OptimizerTensors& optimizer);

/// Fills `model` with the weights that were validated at a checkpoint: with `use_average` its moving average, where it
/// has one. Throws Error(kBadData) for a damaged folder or another shape.
void load_model(const std::filesystem::path& checkpoint, bool use_average, models::Model& model);

/// Makes the top of the model folder this model (docs/checkpoint_format.md says how readers never see a mixture).
void publish_model(const std::filesystem::path& model_folder, const models::Model& model, const ModelTexts& texts);

/// A run publishes its first model before its first checkpoint. If it is killed in between, a mark in MODEL/checkpoints
/// tells that model from one that no run has made there.
bool awaits_first_checkpoint(const std::filesystem::path& model_folder);
void mark_first_model(const std::filesystem::path& model_folder);
void unmark_first_model(const std::filesystem::path& model_folder);

/// Which checkpoints stay.
struct KeptCheckpoints {
  int64_t last = 5;   ///< newest ones
  int64_t best = 3;   ///< best ones by score
  int64_t every = 1;  ///< steps between regular ones
};

/// Deletes all checkpoints but the newest and the best by `scores` (higher is better). One at a step that is no
/// multiple of `kept.every` was left by a stop in between and goes as soon as there is a newer one: it would take the
/// place of another, and the stopped run would keep and average other weights than one that never stopped.
void prune_checkpoints(const std::filesystem::path& model_folder, const std::map<int64_t, double>& scores,
                       const KeptCheckpoints& kept);

/// The folders of the last `count` checkpoints, or the best by `scores` (one without a score is worse than all others);
/// fewer where there are fewer.
std::vector<std::filesystem::path> last_checkpoints(const std::filesystem::path& model_folder, int64_t count);
std::vector<std::filesystem::path> best_checkpoints(const std::filesystem::path& model_folder, int64_t count,
                                                    const std::map<int64_t, double>& scores);

/// The scores of checkpoints that the newest one remembers, by step; higher is better. Empty without a checkpoint.
/// Throws Error(kBadData) when it is damaged.
std::map<int64_t, double> checkpoint_scores(const std::filesystem::path& model_folder);

/// Mean of the weights in several model folders or checkpoints (float64 sums). Throws Error(kBadData) unless all have
/// the same configuration, tensors and vocabularies. Source: Vaswani et al. 2017, section 6.1.
/// @param use_average  take the moving average of a checkpoint instead of its weights, where it has one
/// @return the texts that all of them share
ModelTexts average_into(const std::vector<std::filesystem::path>& folders, bool use_average, models::Model& model);

/// `average_into`, written as a model folder of its own. Throws Error(kRuntime) when a run is using that folder.
void write_average(const std::vector<std::filesystem::path>& folders, bool use_average,
                   const std::filesystem::path& output);

}  // namespace dragoman::training
