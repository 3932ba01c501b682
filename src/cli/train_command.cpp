#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/memory.h"
#include "base/signals.h"
#include "cli/command.h"
#include "distributed/join_processes.h"
#include "training/trainer.h"

namespace dragoman::cli {
namespace {

using training::TrainOptions;

// Options of the command line laid over the recipe of a preset: each one given replaces the preset's value.
class Overrides {
 public:
  explicit Overrides(CLI::App& command) : command_(command), given_(training::preset_options("tiny")) {}

  // A number, flag or path held by the field that `field` returns.
  template <typename Field>
  CLI::Option* add(const char* name, Field field, const std::string& help) {
    CLI::Option* option = command_.add_option(name, field(given_), help);
    appliers_.push_back([this, option, field](TrainOptions& options) {
      if (option->count() > 0) {
        field(options) = field(given_);
      }
    });
    return option;
  }

  // A name from a fixed list, turned into a value by `set`.
  template <typename Set>
  void add_choice(const char* name, const std::vector<std::string>& choices, const char* initial, Set set,
                  const std::string& help) {
    auto text = std::make_shared<std::string>(initial);
    CLI::Option* option = command_.add_option(name, *text, help)->check(CLI::IsMember(choices));
    appliers_.push_back([option, text, set](TrainOptions& options) {
      if (option->count() > 0) {
        set(options, *text);
      }
    });
  }

  // A text that `set` reads.
  template <typename Set>
  void add_text(const char* name, const std::string& initial, Set set, const std::string& help) {
    auto text = std::make_shared<std::string>(initial);
    CLI::Option* option = command_.add_option(name, *text, help);
    appliers_.push_back([option, text, set](TrainOptions& options) {
      if (option->count() > 0) {
        set(options, *text);
      }
    });
  }

  TrainOptions apply(const std::string& preset) const {
    TrainOptions options = training::preset_options(preset);
    for (const auto& applier : appliers_) {
      applier(options);
    }
    return options;
  }

 private:
  CLI::App& command_;
  TrainOptions given_;
  std::vector<std::function<void(TrainOptions&)>> appliers_;
};

// Shorthand for "the field at this path".
#define FIELD(path)               \
  [](TrainOptions & o) -> auto& { \
    return o.path;                \
  }

void add_files(Overrides& options) {
  options.add("--source", FIELD(source), "Training text, source side: one sentence a line; several files are joined")
      ->type_name("FILE");
  options.add("--target", FIELD(target), "Training text, target side: line n translates line n")->type_name("FILE");
  options.add("--valid-source", FIELD(valid_source), "Validation text, source side")->type_name("FILE");
  options.add("--valid-target", FIELD(valid_target), "Validation text, target side")->type_name("FILE");
  options.add("--model", FIELD(model_folder), "Folder for the model; the same command resumes what it holds")
      ->type_name("DIR")
      ->required();
  options
      .add("--initial-model", FIELD(initial_model),
           "Model to start from, to fit it to other text: its weights, shape and vocabulary")
      ->type_name("DIR");
}

// A model that is there has its shape and its vocabulary already.
void exclude_with_initial_model(CLI::App& command) {
  for (const char* name :
       {"--encoder-layers", "--decoder-layers", "--d-model", "--d-ff", "--n-heads", "--norm-order", "--activation",
        "--positions", "--max-positions", "--tying", "--vocab-size", "--vocab-type", "--joint-vocab",
        "--character-coverage", "--normalization", "--vocab-lines", "--byte-fallback"}) {
    command.get_option("--initial-model")->excludes(command.get_option(name));
  }
}

void add_architecture(Overrides& options) {
  options.add("--encoder-layers", FIELD(model.encoder_layers), "Layers of the encoder");
  options.add("--decoder-layers", FIELD(model.decoder_layers), "Layers of the decoder");
  options.add("--d-model", FIELD(model.d_model), "Width of the model");
  options.add("--d-ff", FIELD(model.d_ff), "Width of the feed-forward");
  options.add("--n-heads", FIELD(model.n_heads), "Attention heads; divides --d-model");
  options.add_choice(
      "--norm-order", {"post", "pre"}, "post",
      [](TrainOptions& o, const std::string& name) { o.model.norm_order = models::norm_order_from(name); },
      "Layer norm after the residual sum (the paper) or before the sub-layer");
  options.add_choice(
      "--activation", {"relu", "gelu", "silu"}, "relu",
      [](TrainOptions& o, const std::string& name) { o.model.activation = models::activation_from(name); },
      "Activation of the feed-forward");
  options.add_choice(
      "--positions", {"sinusoidal", "learned"}, "sinusoidal",
      [](TrainOptions& o, const std::string& name) { o.model.positions = models::position_kind_from(name); },
      "Position encoding");
  options.add("--max-positions", FIELD(model.max_positions), "Longest sentence in tokens, end included");
  options.add_choice(
      "--tying", {"none", "target", "all"}, "all",
      [](TrainOptions& o, const std::string& name) { o.model.tying = models::tying_from(name); },
      "Which of source embedding, target embedding and output weight are one");
  options.add("--dropout", FIELD(model.dropout), "Probability, on sub-layer outputs and embeddings");
  options.add("--attention-dropout", FIELD(model.attention_dropout), "Probability, on attention weights");
  options.add("--activation-dropout", FIELD(model.activation_dropout), "Probability, inside the feed-forward");
  options.add("--source-word-dropout", FIELD(model.source_word_dropout), "Probability, of whole source words");
  options.add("--target-word-dropout", FIELD(model.target_word_dropout), "Probability, of whole target words");
}

void add_vocabulary(Overrides& options) {
  options.add("--vocab-size", FIELD(vocabulary.size), "Sub-word pieces (of each side when separate)");
  options.add_choice(
      "--vocab-type", {"unigram", "bpe"}, "unigram",
      [](TrainOptions& o, const std::string& name) {
        using Type = data::VocabularyOptions::Type;
        o.vocabulary.type = name == "bpe" ? Type::kBpe : Type::kUnigram;
      },
      "Sub-word model");
  options.add("--joint-vocab", FIELD(joint_vocabulary), "One vocabulary for both sides (true or false)");
  options.add("--character-coverage", FIELD(vocabulary.character_coverage),
              "Share of characters that get a piece; 0.9995 suits Chinese");
  options.add("--normalization", FIELD(vocabulary.normalization),
              "Of text before it is cut; identity keeps full-width punctuation: nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, "
              "identity");
  options.add("--vocab-lines", FIELD(vocabulary.max_lines),
              "Lines the pieces are learned from at most, drawn evenly; 0 = all");
  options.add("--byte-fallback", FIELD(vocabulary.byte_fallback), "Unknown characters become bytes (true or false)");
  options.add("--subword-sampling", FIELD(batch.subword_sampling),
              "Random sub-words in training: unigram alpha (0.1 to 0.5) or BPE dropout (0.1); 0 = off");
}

// A number, or auto.
void set_batch_tokens(TrainOptions& options, const std::string& text) {
  options.batch.fit = text == "auto";
  if (!options.batch.fit) {
    const bool digits = !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == std::string::npos;
    base::check_usage(digits, "--batch-tokens is \"{}\", must be a whole number or auto", text);
    options.batch.batch_tokens = std::stoll(text);
  }
}

void add_optimization(Overrides& options) {
  options.add_choice(
      "--schedule", {"noam", "inverse-sqrt", "cosine", "cosine-time", "constant"}, "inverse-sqrt",
      [](TrainOptions& o, const std::string& name) { o.schedule.kind = training::schedule_kind_from(name); },
      "How the learning rate moves");
  options.add("--learning-rate", FIELD(schedule.learning_rate), "Peak rate; for noam the factor of the formula");
  options.add("--warmup-steps", FIELD(schedule.warmup_steps), "Updates until the peak");
  options.add("--beta1", FIELD(adam.beta1), "Adam: decay of the first moment");
  options.add("--beta2", FIELD(adam.beta2), "Adam: decay of the second moment");
  options.add("--adam-epsilon", FIELD(adam.epsilon), "Adam: added to the root of the second moment");
  options.add("--weight-decay", FIELD(adam.weight_decay), "Decoupled (AdamW); 0 = Adam");
  options.add("--clip-norm", FIELD(adam.clip_norm), "Largest global gradient norm; 0 = no clipping");
  options.add("--label-smoothing", FIELD(loss.label_smoothing), "Probability mass spread over the vocabulary");
  options.add("--rdrop", FIELD(loss.rdrop),
              "R-Drop: two passes a batch, drawn together with this weight, e.g. 5; 0 = one pass");
  options.add_text(
      "--memory", "half of what is free",
      [](TrainOptions& o, const std::string& size) {
        o.run.memory = base::parse_size("--memory", size);
        o.batch.fit = true;
      },
      "Memory to take, e.g. 8GiB; batches are cut to fit, as with --batch-tokens auto");
  options.add_text("--batch-tokens", std::to_string(training::BatchOptions().batch_tokens), set_batch_tokens,
                   "Source or target tokens of a batch, over all workers; auto: those of the preset, cut into batches "
                   "that fit into --memory and accumulated, so that an update keeps its tokens");
  options.add("--accumulate", FIELD(batch.accumulate), "Batches summed into one update");
  options.add("--max-length", FIELD(batch.max_length), "Tokens; longer sentences are left out of training");
  options.add("--window-sentences", FIELD(batch.window_sentences), "Sentences sorted by length together");
  options.add("--cache-megabytes", FIELD(batch.cache_megabytes),
              "Memory for encoded text; a larger corpus is read from disk again in each epoch");
}

void add_run(Overrides& options) {
  options.add("--max-steps", FIELD(run.max_steps), "Updates");
  options.add("--max-epochs", FIELD(run.max_epochs), "Passes over the text; 0 = no limit");
  options.add("--max-minutes", FIELD(run.max_minutes), "Minutes of wall time of this process; 0 = no limit");
  options.add("--total-minutes", FIELD(run.total_minutes),
              "Minutes of training, all parts of the run together, after which it is finished; 0 = no limit");
  options.add("--validate-every", FIELD(run.validate_every), "Updates between validations, each with a checkpoint");
  options.add("--validation-beam", FIELD(run.validation_beam), "Beam size of validation translations");
  options.add_choice(
      "--metric", {"bleu", "chrf", "loss"}, "bleu",
      [](TrainOptions& o, const std::string& name) { o.run.metric = training::validation_metric_from(name); },
      "What chooses the best model");
  options.add_choice(
      "--tokenize", {"13a", "intl", "zh", "char", "none"}, "13a",
      [](TrainOptions& o, const std::string& name) { o.run.tokenize = evaluation::parse_tokenizer(name); },
      "How validation BLEU cuts words; zh for Chinese");
  options.add("--patience", FIELD(run.patience), "Validations without improvement before the end; 0 = never");
  options.add("--keep-last", FIELD(run.keep_last), "Newest checkpoints kept");
  options.add("--keep-best", FIELD(run.keep_best), "Best checkpoints kept");
  options.add("--average", FIELD(run.average), "Checkpoints averaged at the end; 0 = none");
  options.add("--average-best", FIELD(run.average_best), "Average the best checkpoints, not the last (true or false)");
  options.add("--ema-decay", FIELD(run.ema_decay), "Moving average of the weights, e.g. 0.999; 0 = off");
  options.add("--log-every", FIELD(run.log_every), "Updates between plain progress lines");
  options.add_choice(
      "--recompute", {"none", "layers"}, "none",
      [](TrainOptions& o, const std::string& name) { o.run.recompute = training::recompute_from(name); },
      "What the backward computes again to save memory: layers keep their input alone; the result is the same");
  options.add_choice(
      "--precision", {"auto", "float32", "bfloat16"}, "auto",
      [](TrainOptions& o, const std::string& name) { o.precision = kernels::precision_from(name); },
      "Of the operands of matrix products; auto = the fastest of this machine, or what the run began with");
  options.add("--workers", FIELD(run.workers), "Replicas of this process, one thread each; 0 = one a core");
  options.add("--check-ranks-every", FIELD(run.check_ranks_every),
              "Updates between comparisons of the weights of all processes (mpirun)");
  options.add("--rank-timeout", FIELD(run.rank_timeout),
              "Seconds; a process (mpirun) that is not heard of for longer ends the run");
  options.add("--seed", FIELD(run.seed), "Of everything random");
}

#undef FIELD

constexpr const char* kStoppedEarly =
    "dragoman: train: stopped by a signal with no update under way; run the same command to go on\n";

int run_training(const TrainOptions& options, distributed::ProcessGroup& processes) {
  // Before the first update there is nothing to save, and learning a vocabulary cannot be interrupted in any other way.
  const base::EndOnSignal before_updates(processes.leads() ? kStoppedEarly : "");
  training::Trainer trainer(options, processes, std::cerr);
  trainer.run();
  return trainer.exit_status();
}

// What one of several processes cannot go on after ends all of them.
int train(const TrainOptions& options) {
  const auto processes = distributed::join_processes({options.run.rank_timeout});
  try {
    return run_training(options, *processes);
  } catch (const base::Error& error) {
    processes->end_all(error.exit_status(), error.what());
    throw;
  } catch (const std::exception& error) {
    processes->end_all(static_cast<int>(base::ErrorKind::kRuntime), error.what());
    throw;
  }
}

}  // namespace

void add_train_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "train",
                                  "Train a Transformer from parallel text. Defaults are those of the preset; the ones "
                                  "shown are tiny's");
  auto preset = std::make_shared<std::string>("tiny");
  command->add_option("--preset", *preset, "Recipe to start from")->check(CLI::IsMember(training::preset_names()));
  auto options = std::make_shared<Overrides>(*command);
  add_files(*options);
  add_architecture(*options);
  add_vocabulary(*options);
  add_optimization(*options);
  add_run(*options);
  exclude_with_initial_model(*command);
  command->callback([&run, preset, options] { run = [=] { return train(options->apply(*preset)); }; });
}

}  // namespace dragoman::cli
