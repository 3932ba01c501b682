#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary_trainer.h"
#include "evaluation/tokenizer.h"
#include "kernels/precision.h"
#include "models/transformer/transformer_config.h"
#include "training/schedule.h"

namespace dragoman::training {

/// What "better" means for a validation.
enum class ValidationMetric { kBleu, kChrf, kLoss };

/// What an update makes small.
struct LossOptions {
  double label_smoothing = 0.1;  ///< share of the target that is spread over the vocabulary; paper, section 5.4
  double rdrop = 0.0;  ///< R-Drop: weight alpha of the divergence between two passes (Wu et al. 2021); 0 = one pass
};

/// Adam (Kingma & Ba 2015, algorithm 1); weight decay above 0 makes it AdamW (Loshchilov & Hutter 2019, algorithm 2).
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;        ///< paper, section 5.3
  double epsilon = 1e-9;      ///< paper, section 5.3
  double weight_decay = 0.0;  ///< per update, times the learning rate; 0 = plain Adam
  double clip_norm = 0.0;     ///< gradients are scaled down to this global norm; 0 = never
};

/// How text becomes batches.
struct BatchOptions {
  int64_t batch_tokens = 8192;       ///< source or target tokens of one batch, whichever is more, over all workers
  bool fit = false;                  ///< cut the batch into accumulated parts that fit into memory (plan_batch)
  int64_t accumulate = 1;            ///< batches summed into one update
  int64_t max_length = 256;          ///< longer sentences (tokens, end included) are left out of training
  int64_t window_sentences = 65536;  ///< sorted by length within windows of so many shuffled sentences
  int64_t cache_megabytes = 1024;    ///< memory for encoded text; a larger corpus is read from disk again and again
  double subword_sampling = 0.0;     ///< unigram: alpha; BPE: merge dropout; 0 = always the best cut
};

/// When the run looks at itself, saves and stops. Steps are updates.
struct RunOptions {
  int64_t max_steps = 100'000;
  int64_t max_epochs = 0;        ///< 0 = no limit
  double max_minutes = 0.0;      ///< wall time of this process; 0 = no limit
  double total_minutes = 0.0;    ///< training time of all parts of the run together, after which it is finished; 0 = no
                                 ///< limit
  int64_t validate_every = 500;  ///< steps between validations; each also saves a checkpoint
  int64_t validation_beam = 1;   ///< beam size of validation translations
  ValidationMetric metric = ValidationMetric::kBleu;
  evaluation::Tokenizer tokenize = evaluation::Tokenizer::k13a;  ///< of validation BLEU
  int64_t patience = 10;      ///< validations without improvement before stopping; 0 = never stop early
  int64_t keep_last = 5;      ///< newest checkpoints kept
  int64_t keep_best = 3;      ///< best checkpoints kept
  int64_t average = 5;        ///< checkpoints averaged at the end; the average is kept if it validates better; 0 = off
  bool average_best = false;  ///< average the best instead of the last
  double ema_decay = 0.0;     ///< exponential moving average of the weights, used for validation and saved as the
                              ///< model; 0 = off, else e.g. 0.999
  int64_t log_every = 50;     ///< steps between plain progress lines and rows of metrics.jsonl
  uint64_t memory = 0;        ///< bytes this process may take; 0 = a fair share of what is free (memory_budget)
  nn::Recompute recompute = nn::Recompute::kNone;  ///< saves memory, costs time, changes no result
  int workers = 0;                                 ///< replicas of this process, one thread each; 0 = one a core
  int64_t check_ranks_every = 100;                 ///< steps between comparisons of the weights of all processes
  double rank_timeout = 20.0;                      ///< seconds: a process that is silent for longer ends the run
  uint64_t seed = 1;
};

/// Everything `dragoman train` needs to know.
struct TrainOptions {
  std::string preset = "tiny";
  std::vector<std::filesystem::path> source, target;
  std::vector<std::filesystem::path> valid_source, valid_target;
  std::filesystem::path model_folder;
  /// A model to start from, for instance to fit it to the texts of one field: its weights, shape and vocabularies are
  /// those of the first update; of `model` the dropouts alone count, of `vocabulary` nothing. Empty = weights are
  /// drawn.
  std::filesystem::path initial_model;
  models::TransformerConfig model;              ///< vocabulary sizes are filled in from the trained vocabularies
  std::optional<kernels::Precision> precision;  ///< of products with weights; none = what is fastest on this machine
  data::VocabularyOptions vocabulary;
  bool joint_vocabulary = true;
  ScheduleOptions schedule;
  LossOptions loss;
  AdamOptions adam;
  BatchOptions batch;
  RunOptions run;

  /// Throws Error(kUsage) naming option, value and rule.
  void check() const;
};

/// The full recipe of a preset: tiny, tiny-hour, small, base, big, each also with -prenorm.
/// Throws Error(kUsage) for an unknown name, listing the known ones.
TrainOptions preset_options(const std::string& name);
std::vector<std::string> preset_names();

/// All options that decide the result, as JSON text: saved with a checkpoint and compared on resume.
std::string recipe_json(const TrainOptions& options);

std::string_view name_of(nn::Recompute recompute);
nn::Recompute recompute_from(std::string_view name);
std::string_view name_of(ValidationMetric metric);
ValidationMetric validation_metric_from(std::string_view name);

}  // namespace dragoman::training
