#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/masked_examples.h"
#include "data/text/documents.h"
#include "data/vocabulary/vocabulary_trainer.h"
#include "kernels/precision.h"
#include "models/model_config.h"
#include "models/transformer/transformer_config.h"
#include "training/run_options.h"
#include "training/schedule.h"
#include "training/whole_text_options.h"

namespace dragoman::training {

/// What an update makes small.
struct ObjectiveOptions {
  double label_smoothing = 0.1;  ///< paper, section 5.4
  double rdrop = 0.0;            ///< weight of the divergence between two passes (Wu et al. 2021)
  double simcut = 0.0;           ///< weight of the divergence of a pass that sees fewer words (Gao et al. 2022)
  double simcut_words = 0.05;    ///< probability that this pass does not see a word

  /// Returns: whether each batch goes through the model twice.
  bool two_passes() const { return rdrop > 0.0 || simcut > 0.0; }

  static constexpr const char* kTitle = "Loss";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// The parameters that weight decay makes smaller.
enum class Decayed {
  kAll,
  kMatrices,  ///< weight matrices and embeddings, not gains and biases
};

constexpr base::Names<Decayed> names_of(Decayed) {
  return {"decayed", {{Decayed::kAll, "all"}, {Decayed::kMatrices, "matrices"}}};
}

/// What turns gradients into changes of the weights.
enum class OptimizerKind {
  kAdam,
  kMuon,  ///< Muon for the weight matrices of layers, Adam for embeddings, output weights, gains and biases
};

constexpr base::Names<OptimizerKind> names_of(OptimizerKind) {
  return {"optimizer", {{OptimizerKind::kAdam, "adam"}, {OptimizerKind::kMuon, "muon"}}};
}

/// Adam (Kingma & Ba 2015, algorithm 1); weight decay above 0 makes it AdamW (Loshchilov & Hutter 2019, algorithm 2).
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;        ///< paper, section 5.3
  double epsilon = 1e-9;      ///< paper, section 5.3
  double weight_decay = 0.0;  ///< per update, times the learning rate
  Decayed decayed = Decayed::kAll;
  double clip_norm = 0.0;
  OptimizerKind optimizer = OptimizerKind::kAdam;
  double muon_momentum = 0.95;  ///< Jordan et al. 2024

  static constexpr const char* kTitle = "Optimizer";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// How text becomes batches.
struct BatchOptions {
  bool fit = false;             ///< cut the batch into accumulated parts that fit into memory (plan_batch)
  int64_t batch_tokens = 8192;  ///< source or target tokens, whichever is more
  int64_t accumulate = 1;
  int64_t max_length = 256;  ///< the end is counted; at most the positions of the model
  data::BatchOrder batch_order = data::BatchOrder::kLength;
  int64_t window_sentences = 65536;  ///< shuffled sentences that are cut into batches together
  int64_t cache_megabytes = 1024;
  double subword_sampling = 0.0;  ///< unigram: alpha; BPE: merge dropout; 0 = always the best cut

  static constexpr const char* kTitle = "Batches";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// Everything `dragoman train` needs to know.
struct TrainOptions {
  std::string preset = "tiny";
  std::vector<std::filesystem::path> source, target;
  std::vector<std::filesystem::path> valid_source, valid_target;
  std::vector<std::filesystem::path> text, valid_text;  ///< of a language model or an encoder
  std::filesystem::path tokenizer;                      ///< empty = one is learned
  std::filesystem::path target_tokenizer;  ///< without a joint vocabulary; `tokenizer` is then of the source
  std::filesystem::path model_folder;
  /// A model to start from, for instance to fit it to the texts of one field: its weights, shape and vocabularies are
  /// those of the first update; of `model` the dropouts alone count, of `vocabulary` nothing. Empty = weights are
  /// drawn.
  std::filesystem::path initial_model;
  std::string task = "translation";  ///< what the text files mean (task.h)
  /// The shape; of any architecture. Vocabulary sizes are filled in from the trained vocabularies.
  models::ModelConfig model = models::TransformerConfig();
  std::optional<kernels::Precision> precision;  ///< of products with weights; none = what is fastest on this machine
  data::TextOptions running_text;               ///< of a language model
  data::MaskOptions masks;                      ///< of a masked language model
  WholeTextOptions whole_texts;                 ///< of the tasks classify and embed
  data::VocabularyOptions vocabulary;
  bool joint_vocabulary = true;
  ScheduleOptions schedule;
  ObjectiveOptions loss;
  AdamOptions adam;
  BatchOptions batch;
  RunOptions run;

  static constexpr const char* kTitle = "Run";  ///< in --help
  /// Calls visit(base::Field) for the fields that belong to no part and are not paths; the tables of the parts do so
  /// for theirs. A field that decides the outcome stays as it is when a run is resumed.
  template <typename Visit>
  static void fields(Visit&& visit);
  /// Calls visit(member pointer) for each part but `model`.
  template <typename Visit>
  static void parts(Visit&& visit);

  /// Throws Error(kUsage) naming option, value and rule.
  void check() const;
};

template <typename Visit>
void ObjectiveOptions::fields(Visit&& visit) {
  using base::Field;
  using O = ObjectiveOptions;
  visit(Field("label_smoothing", &O::label_smoothing, "Probability mass spread over the vocabulary", {0, 0.9}));
  visit(Field("rdrop", &O::rdrop, "R-Drop: two passes a batch, drawn together with this weight, e.g. 5; 0 = one pass",
              {0, 100}));
  visit(
      Field("simcut", &O::simcut,
            "SimCut: a second pass that misses some words must predict what the first does, with this weight, e.g. 3; "
            "0 = one pass",
            {0, 100}));
  visit(Field("simcut_words", &O::simcut_words, "SimCut: probability that the second pass misses a word", {0, 0.9}));
}

template <typename Visit>
void AdamOptions::fields(Visit&& visit) {
  using base::Field;
  using O = AdamOptions;
  visit(Field("beta1", &O::beta1, "Adam: decay of the first moment", {0, 0.9999}));
  visit(Field("beta2", &O::beta2, "Adam: decay of the second moment", {0, 0.99999}));
  visit(Field("epsilon", &O::epsilon, "Adam: added to the root of the second moment", {1e-16, 1})
            .under("--adam-epsilon"));
  visit(Field("weight_decay", &O::weight_decay, "Decoupled (AdamW); 0 = Adam", {0, 1}));
  visit(Field("decayed", &O::decayed, "Parameters that the weight decay makes smaller"));
  visit(Field("clip_norm", &O::clip_norm, "Largest global gradient norm; 0 = no clipping", {0, 1e6}));
  visit(Field("optimizer", &O::optimizer, "adam, or muon: Muon for the weight matrices of layers, Adam for all else"));
  visit(Field("muon_momentum", &O::muon_momentum, "Muon: decay of the momentum", {0, 0.9999}));
}

template <typename Visit>
void BatchOptions::fields(Visit&& visit) {
  using base::Field;
  using O = BatchOptions;
  visit(Field("batch_tokens", &O::batch_tokens,
              "Source or target tokens of a batch, over all workers; auto: those of the preset, cut into batches that "
              "fit into --memory and accumulated, so that an update keeps its tokens",
              {16, 1 << 24})
            .without_flag());
  visit(Field("accumulate", &O::accumulate, "Batches summed into one update", {1, 4096}));
  visit(Field("max_length", &O::max_length, "Longer sentences are left out of training", {2, 1 << 20}, "tokens"));
  visit(Field("batch_order", &O::batch_order,
              "Sentences that share a batch: of one length, or random, which mixes the tasks of a text"));
  visit(Field("window_sentences", &O::window_sentences, "Sentences cut into batches together", {1, 1e9}));
  visit(Field("cache_megabytes", &O::cache_megabytes,
              "Memory for encoded text; a larger corpus is read from disk again in each epoch", {0, 1 << 24})
            .course()
            .of_each_process()
            .in(RunOptions::kSpeed));
  visit(Field("subword_sampling", &O::subword_sampling,
              "Random sub-words in training: unigram alpha (0.1 to 0.5) or BPE dropout (0.1); 0 = off", {0, 100}));
}

template <typename Visit>
void TrainOptions::fields(Visit&& visit) {
  using base::Field;
  visit(Field("joint_vocabulary", &TrainOptions::joint_vocabulary, "One vocabulary for both sides (true or false)")
            .under("--joint-vocab")
            .in(data::VocabularyOptions::kTitle));
  visit(Field("precision", &TrainOptions::precision,
              "Of the operands of matrix products; auto = the fastest of this machine, or what the run began with")
            .in(RunOptions::kSpeed)
            .without_flag());
}

template <typename Visit>
void TrainOptions::parts(Visit&& visit) {
  visit(&TrainOptions::running_text);
  visit(&TrainOptions::masks);
  visit(&TrainOptions::whole_texts);
  visit(&TrainOptions::vocabulary);
  visit(&TrainOptions::schedule);
  visit(&TrainOptions::adam);
  visit(&TrainOptions::loss);
  visit(&TrainOptions::batch);
  visit(&TrainOptions::run);
}

/// All options that decide the result, as JSON text: saved with a checkpoint and compared on resume.
std::string recipe_json(const TrainOptions& options);

}  // namespace dragoman::training
