// How a run begins: what Trainer does before its first update.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/json.h"
#include "models/architectures/architectures.h"
#include "models/model_tensors.h"
#include "tensor/transfer.h"
#include "training/idle_options.h"
#include "training/rank_agreement.h"
#include "training/run_facts.h"
#include "training/run_start.h"
#include "training/tasks.h"
#include "training/trainer.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

data::BatcherOptions batcher_options(const TrainOptions& options, const distributed::ProcessGroup& processes) {
  data::BatcherOptions batching;
  batching.batch_tokens = options.batch.batch_tokens;
  batching.order = options.batch.batch_order;
  batching.window_sentences = static_cast<uint64_t>(options.batch.window_sentences);
  batching.shards = processes.size() * options.run.workers;
  batching.first_shard = processes.rank() * options.run.workers;
  batching.own_shards = options.run.workers;
  batching.seed = options.run.seed;
  return batching;
}

data::Exchange data_exchange(distributed::ProcessGroup& processes) {
  return {processes.rank(), processes.size(),
          [&processes](const std::string& mine) { return processes.all_gather(mine, distributed::Channel::kData); }};
}

// A recipe.json as it is written today: older versions wrote 0.3 as 0.30000001192092896.
std::string in_decimals(const std::string& recipe) {
  const nlohmann::json tree = nlohmann::json::parse(recipe, nullptr, false);
  return tree.is_discarded() ? recipe : base::dump_json(base::with_decimals(tree), 2) + "\n";
}

// The shape for these vocabularies. A model to start from may have more rows than its tokenizer has pieces.
models::ModelConfig with_rows_for(const data::VocabularyPair& vocabularies, const models::ModelConfig& model,
                                  const std::filesystem::path& initial_model) {
  const models::ModelSizes sizes = model.sizes();
  const auto rows_for = [&](const data::Vocabulary& vocabulary, int64_t rows) {
    const int64_t pieces = vocabulary.size();
    if (initial_model.empty() || rows == 0) {
      return pieces;
    }
    base::check_data(rows >= pieces,
                     "{}: its embedding has {} rows, its vocabulary {} pieces; the files are of different models",
                     initial_model.string(), rows, pieces);
    return rows;
  };
  return model.with_vocabulary_sizes(rows_for(vocabularies.source, sizes.source_vocab_size),
                                     rows_for(vocabularies.target, sizes.target_vocab_size));
}

std::string replicas_text(int processes, int workers) {
  const std::string text = fmt::format("{} {}", workers, workers == 1 ? "worker" : "workers");
  return processes == 1 ? text : fmt::format("{} processes of {}", processes, text);
}

}  // namespace

Trainer::Trainer(const TrainOptions& options, std::ostream& terminal)
    : Trainer(options, std::make_unique<distributed::SingleProcess>(), terminal) {}

Trainer::Trainer(const TrainOptions& options, std::unique_ptr<distributed::ProcessGroup> alone, std::ostream& terminal)
    : Trainer(options, *alone, terminal) {
  alone_ = std::move(alone);
}

Trainer::Trainer(const TrainOptions& options, distributed::ProcessGroup& processes, std::ostream& terminal)
    : Trainer(options, nullptr, processes, terminal) {}

Trainer::Trainer(const TrainOptions& options, std::unique_ptr<Task> task, distributed::ProcessGroup& processes,
                 std::ostream& terminal)
    : options_(options), processes_(processes), task_(std::move(task)) {
  complete_options();
  if (processes_.leads()) {
    check_model_is_of_a_run(options_.model_folder);
  }
  if (task_ == nullptr) {
    task_ = make_task(options_);
  }
  agree_and_lock();
  std::vector<std::string> notes;  // for the person, before the first update
  RunStart start = find_run_start(options_, *task_, processes_, terminal, notes);
  adopt(start, notes);
  make_parts(start, notes);
  report_ = processes_.leads() ? std::make_unique<FolderReport>(options_, state_.step, terminal)
                               : std::make_unique<RunReport>();
  for (const std::string& note : notes) {
    report_->message(note);
  }
  describe(start.vocabularies);
}

Trainer::~Trainer() = default;

void Trainer::complete_options() {
  options_.schedule.d_model = options_.model.sizes().d_model;
  options_.schedule.max_steps = options_.run.max_steps;
  options_.schedule.total_seconds = 60.0 * options_.run.total_minutes;
  options_.check();
  if (options_.run.workers == 0) {
    options_.run.workers = processes_.default_workers();
  }
}

// All processes must see the same text and options before the first of them writes.
void Trainer::agree_and_lock() {
  state_.fingerprint = task_->fingerprint();
  if (processes_.size() > 1) {
    check_same_facts(processes_, facts_to_share(options_, state_.fingerprint, task_->validation_fingerprint()));
  }
  if (processes_.leads()) {
    make_model_folder(options_.model_folder);
    lock_ = std::make_unique<base::FolderLock>(options_.model_folder);
  }
}

// Takes what the start decides, a checkpoint or a model to start from: shape, precision, labels, languages.
void Trainer::adopt(const RunStart& start, std::vector<std::string>& notes) {
  if (!start.initial_config.empty()) {
    adopt_shape(start.initial_config);
  }
  for (const std::string& note : {task_->adopt_labels(start.labels), task_->adopt_languages(start.languages)}) {
    if (!note.empty()) {
      notes.push_back(note);
    }
  }
  const auto& checkpoint = start.checkpoint;
  options_.precision = precision_of_run(options_, checkpoint);
  options_.model = task_->shape(
      with_rows_for(start.vocabularies, options_.model, start.initial_config.empty() ? "" : options_.initial_model));
  if (checkpoint && options_.batch.fit) {
    adopt_fitted_batch(options_.batch, checkpoint->recipe, options_.model_folder.string());
  }
}

// Makes the parts of the run in the order in which they need each other.
void Trainer::make_parts(RunStart& start, std::vector<std::string>& notes) {
  const auto& checkpoint = start.checkpoint;
  ModelTexts texts = model_texts(start.vocabularies, options_.model);
  texts.labels = task_->labels();
  texts.languages = checkpoint ? checkpoint->texts.languages : task_->languages();  // text files may be renamed
  publisher_ = std::make_unique<Publisher>(options_, processes_, std::move(texts));
  examples_ = task_->examples(start.vocabularies, options_, data_exchange(processes_));
  make_model(start);
  if (!checkpoint) {
    plan_memory();
  }
  batcher_ = std::make_unique<data::Batcher>(*examples_, batcher_options(options_, processes_));
  validation_ = task_->validation(start.vocabularies, options_);
  if (checkpoint) {
    restore(*checkpoint, notes);
    plan_memory();
  }
  compare_from_here(notes);
  progress_ = std::make_unique<RunProgress>(options_, state_, clock_, examples_->statistics().target_tokens);
  loss_watch_ = std::make_unique<LossWatch>(task_->choices(*model_, options_));
}

// Of the model to start from, instead of the options.
void Trainer::adopt_shape(const std::string& config) {
  const std::string file = (options_.initial_model / models::kConfigName).string();
  options_.model = models::config_from_json(config, file).with_dropouts_of(options_.model);
  options_.schedule.d_model = options_.model.sizes().d_model;
  const int64_t longest = options_.model.sizes().max_positions;
  base::check_usage(
      options_.batch.max_length <= longest,
      "train: the model of --initial-model {} takes {} tokens, --max-length is {}; give --max-length {} or "
      "less",
      options_.initial_model.string(), longest, options_.batch.max_length, longest);
  options_.check();
}

// Weights, replicas and moving average; weights of a new run are drawn, or those to start from; others are about to be
// restored.
void Trainer::make_model(RunStart& start) {
  model_ = models::make_model(options_.model);
  if (options_.batch.fit || options_.run.memory > 0) {
    plan_ = plan_tensors(options_, memory_budget(options_.run, processes_.processes_here()),
                         model_->parameters().flat_size(),
                         Optimizer::scratch_elements(options_.adam, model_->parameters()));
  }
  model_->parameters().allocate();
  if (!start.checkpoint) {
    model_->parameters().initialize(options_.run.seed);
    if (!start.initial_weights.empty()) {
      const std::string file = (options_.initial_model / models::kWeightsName).string();
      models::load_tensors(task_->initial_weights(std::move(start.initial_weights), *model_), model_->parameters(),
                           file);
      start.initial_weights.clear();
    }
    processes_.broadcast(
        tensor::HostEdit<float>(model_->parameters().mutable_values()).span());  // libraries may differ in the last bit
  }
  replicas_ = std::make_unique<DataParallel>(*model_, task_->objective(options_), options_.adam, processes_,
                                             ProcessOptions{options_.run.workers, *options_.precision});
  average_ = std::make_unique<WeightAverage>(model_->parameters(), options_.run.ema_decay);
}

void Trainer::restore(const Checkpoint& checkpoint, std::vector<std::string>& notes) {
  const std::string recipe = recipe_json(options_);
  const std::string saved = in_decimals(checkpoint.recipe);
  base::check_usage(saved == recipe,
                    "{}: the run in this folder was started with another recipe ({}); "
                    "use the same options to go on, or another --model folder to start anew",
                    options_.model_folder.string(), first_difference(saved, recipe));
  base::check_data(checkpoint.state.fingerprint == state_.fingerprint,
                   "{}: the training text has changed since this run was started; use the same files to go on, or "
                   "another --model folder to start anew",
                   options_.model_folder.string());
  const tensor::ArenaScope passing(tensor::Arena::current()->another());  // what is read goes back to the system
  const DataParallel::Moments moments = replicas_->moments();
  OptimizerTensors optimizer{moments.first, moments.second, average_->tensor()};
  restore_tensors(checkpoint, processes_, *model_, optimizer);
  replicas_->set_moments(moments);
  const int processes = processes_.size(), workers = options_.run.workers;
  state_ = checkpoint.state;
  if (state_.workers != workers || state_.processes != processes) {
    notes.push_back(
        fmt::format("resuming with {} a run of {}: the same data order, but not bit for bit the run it would have been",
                    replicas_text(processes, workers), replicas_text(state_.processes, state_.workers)));
  }
  clock_.resume_at(state_.seconds);
  replicas_->set_applied_updates(state_.applied_updates);
  batcher_->restore(nlohmann::json::parse(state_.batcher));
}

// Scores of another measure say nothing about the validations to come. Without validation text none will come, so the
// scores are kept for a part of the run that has it again.
void Trainer::compare_from_here(std::vector<std::string>& notes) {
  const auto best = [&] {
    const std::string metric = state_.best_score < 0.0         ? "loss"
                               : state_.measure.metric.empty() ? "score"
                                                               : state_.measure.metric;
    return fmt::format("step {} ({} {:.2f})", state_.best_step, metric, std::abs(state_.best_score));
  };
  if (!validation_->has_data()) {
    if (state_.best_step > 0) {
      notes.push_back(fmt::format(
          "no validation text is given: the model stays that of {}, for nothing can be compared with it", best()));
    }
    return;
  }
  ScoreMeasure now = measure_of(options_.run, task_->validation_fingerprint());
  const std::string changes = changes_of(state_.measure, now);
  if (!changes.empty()) {
    if (state_.best_step > 0) {
      notes.push_back(fmt::format(
          "scores are measured in another way than before ({}): the best score so far, of {}, cannot be compared with "
          "those to come; best score and patience begin anew",
          changes, best()));
    }
    state_.begin_comparison();
  }
  state_.measure = std::move(now);
}

// Cuts a new run's batches so that they fit, or checks that they do.
void Trainer::plan_memory() {
  if (!plan_) {
    return;
  }
  plan_process(options_, examples_->statistics(), *plan_);
  const auto measure = [this](int64_t tokens) {
    return replicas_->measure_pass(task_->longest_batch(tokens, options_)).peak_bytes;
  };
  const auto smallest = [this](int64_t tokens) {  // all ranks train with the batch of the one that has least memory
    return -static_cast<int64_t>(processes_.maximum(-static_cast<double>(tokens)));
  };
  plan_batch(options_, *plan_, {replicas_->replicas(), measure, smallest, task_->longest_example(options_)});
  reserve();
}

// The passes of the planned batch then find all they need in one piece.
void Trainer::reserve() {
  replicas_->reserve((plan_->activations + plan_->scratch) / static_cast<uint64_t>(options_.run.workers));
}

// What the person should know before the first update.
void Trainer::describe(const data::VocabularyPair& vocabularies) {
  const int64_t parameters = model_->parameters().count();
  const auto& counts = examples_->statistics();
  report_->message(examples_->report());
  const std::string model = options_.initial_model.empty() ? options_.preset : options_.initial_model.string();
  report_->message(fmt::format("model: {} ({} parameters), {}, {} on {}", model, report::format_count(parameters),
                               replicas_text(processes_.size(), options_.run.workers),
                               kernels::name_of(*options_.precision), base::isa_name(base::active_isa())));
  std::vector<std::string> warnings = run_warnings(options_, parameters, counts);
  std::ranges::move(idle_options(options_), std::back_inserter(warnings));
  std::ranges::move(task_->warnings(vocabularies, options_), std::back_inserter(warnings));
  std::ranges::move(validation_->warnings(), std::back_inserter(warnings));
  for (const std::string& warning : warnings) {
    report_->warning(warning);
  }
  if (plan_) {
    report_->memory({state_.step, plan_->batch_tokens, plan_->accumulate, plan_->parts(), clock_.seconds()},
                    plan_->report());
  }
  report_->facts(run_facts(options_, parameters, *examples_, plan_));
  if (state_.step > 0) {
    report_->event({state_.step, "resume", fmt::format("resuming after step {}", state_.step), clock_.seconds()});
  }
}

}  // namespace dragoman::training
