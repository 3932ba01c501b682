#include "training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/signals.h"
#include "decoding/load_translator.h"
#include "ops/vector_math.h"
#include "training/attention_maps.h"
#include "training/run_facts.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

constexpr int64_t kMaxSkippedInARow = 20;
constexpr int64_t kStepsToSettle = 200;  // until then the loss may be worse than guessing
constexpr int64_t kLostWindows = 3;      // worse than guessing, in a row, call for a warning

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

data::EncodingOptions encoding_options(const TrainOptions& options) {
  data::EncodingOptions encoding;
  encoding.max_length = static_cast<int32_t>(options.batch.max_length - 1);
  encoding.source_sampling = encoding.target_sampling = options.batch.subword_sampling;
  encoding.cache_bytes = static_cast<uint64_t>(options.batch.cache_megabytes) << 20U;
  encoding.seed = options.run.seed;
  encoding.threads = options.run.workers;
  return encoding;
}

data::BatcherOptions batcher_options(const TrainOptions& options) {
  data::BatcherOptions batching;
  batching.batch_tokens = options.batch.batch_tokens;
  batching.window_sentences = static_cast<uint64_t>(options.batch.window_sentences);
  batching.seed = options.run.seed;
  return batching;
}

}  // namespace

Trainer::Trainer(const TrainOptions& options, std::ostream& terminal) : options_(options) {
  options_.schedule.d_model = options_.model.d_model;
  options_.schedule.max_steps = options_.run.max_steps;
  options_.check();
  options_.run.workers = options_.run.workers > 0 ? options_.run.workers : base::cpu_count();
  data::ParallelCorpus text(options_.source, options_.target);
  make_model_folder(options_.model_folder);
  lock_ = std::make_unique<base::FolderLock>(options_.model_folder);
  const std::optional<Checkpoint> checkpoint = find_newest_checkpoint(options_.model_folder, notes_);
  state_.fingerprint = text.fingerprint();

  if (!checkpoint) {
    terminal << fmt::format("learning a vocabulary of {} pieces\n", format_count(options_.vocabulary.size))
             << std::flush;
  }
  const data::VocabularyPair vocabularies =
      checkpoint ? decoding::load_vocabularies(checkpoint->texts.vocabularies, checkpoint->folder)
                 : learn_vocabularies(options_, notes_);
  options_.model.source_vocab_size = vocabularies.source.size();
  options_.model.target_vocab_size = vocabularies.target.size();
  texts_ = model_texts(vocabularies, options_.model);
  corpus_ = std::make_unique<data::EncodedCorpus>(std::move(text), vocabularies.source, vocabularies.target,
                                                  encoding_options(options_));
  if (checkpoint && options_.batch.fit) {
    adopt_fitted_batch(options_.batch, checkpoint->recipe, options_.model_folder.string());
  }
  model_ = std::make_unique<models::Transformer>(options_.model);
  if (options_.batch.fit || options_.run.memory > 0) {
    plan_ = plan_tensors(options_, memory_budget(options_.run, 1), model_->parameters().flat_size());
  }
  model_->parameters().allocate();
  model_->parameters().initialize(options_.run.seed);
  replicas_ = std::make_unique<DataParallel>(*model_, options_.loss, options_.adam, options_.run.workers);
  replicas_->set_recompute(options_.run.recompute);
  if (options_.run.ema_decay > 0.0) {
    average_ = model_->parameters().values().clone();
  }
  if (!checkpoint) {
    plan_memory();
  }
  batcher_ = std::make_unique<data::Batcher>(*corpus_, batcher_options(options_));
  validator_ = std::make_unique<Validator>(options_, vocabularies.source, vocabularies.target);
  if (checkpoint) {
    restore(*checkpoint);
    plan_memory();
  }
  report_ = std::make_unique<RunReport>(options_, state_.step, terminal);
  for (const std::string& note : notes_) {
    report_->message(note);
  }
  describe();
}

Trainer::~Trainer() = default;

void Trainer::restore(const Checkpoint& checkpoint) {
  const std::string recipe = recipe_json(options_);
  base::check_usage(checkpoint.recipe == recipe,
                    "{}: the run in this folder was started with another recipe ({}); "
                    "use the same options to go on, or another --model folder to start anew",
                    options_.model_folder.string(), first_difference(checkpoint.recipe, recipe));
  base::check_data(checkpoint.state.fingerprint == state_.fingerprint,
                   "{}: the training text has changed since this run was started; use the same files to go on, or "
                   "another --model folder to start anew",
                   options_.model_folder.string());
  const tensor::ArenaScope passing(std::make_shared<tensor::Arena>());  // what is read goes back to the system
  OptimizerTensors optimizer{replicas_->adam().first_moment(), replicas_->adam().second_moment(), average_};
  load_checkpoint(checkpoint, *model_, optimizer);
  const int workers = options_.run.workers;
  state_ = checkpoint.state;
  if (state_.workers != workers) {
    notes_.push_back(
        fmt::format("resuming with {} workers a run of {}: the same data order, but not bit for bit the "
                    "run it would have been",
                    workers, state_.workers));
    state_.workers = workers;
  }
  seconds_before_ = state_.seconds;
  first_step_ = state_.step;
  replicas_->set_applied_updates(state_.applied_updates);
  batcher_->restore(nlohmann::json::parse(state_.batcher));
}

// Cuts a new run's batches so that they fit, or checks that they do.
void Trainer::plan_memory() {
  if (!plan_) {
    return;
  }
  plan_process(options_, corpus_->statistics(), *plan_);
  plan_batch(options_, *plan_, options_.run.workers, [this](int64_t tokens) {
    const models::TransformerConfig& model = options_.model;
    const data::Batch batch =
        longest_batch(tokens, options_.batch.max_length, model.source_vocab_size, model.target_vocab_size);
    return replicas_->measure_pass(batch).peak_bytes;
  });
  reserve();
}

// The passes of the planned batch then find all they need in one piece.
void Trainer::reserve() {
  replicas_->reserve((plan_->activations + plan_->scratch) / static_cast<uint64_t>(options_.run.workers));
}

// What the person should know before the first update.
void Trainer::describe() {
  const int64_t parameters = model_->parameters().count();
  const auto& counts = corpus_->statistics();
  report_->message(counts.report());
  report_->message(fmt::format("model: {} ({} parameters), {} workers, {}", options_.preset, format_count(parameters),
                               options_.run.workers, base::isa_name(base::active_isa())));
  for (const std::string& warning : run_warnings(options_, parameters, counts, *validator_)) {
    report_->warning(warning);
  }
  if (plan_) {
    validator_->limit_memory(plan_->search_tokens, plan_->gives_back());
    report_->memory({state_.step, plan_->batch_tokens, plan_->accumulate, plan_->parts(), seconds()}, plan_->report());
  }
  report_->facts(run_facts(options_, parameters, counts, plan_));
  if (state_.step > 0) {
    report_->event({state_.step, "resume", fmt::format("resuming after step {}", state_.step), seconds()});
  }
}

StopReason Trainer::run() {
  const base::StopSignals signals;
  run_start_ = clock_seconds();
  std::optional<StopReason> reason = should_stop();
  while (!reason) {
    one_update();
    const bool validation_due = state_.step % options_.run.validate_every == 0;
    if (state_.step % options_.run.log_every == 0) {
      log_window();
    }
    reason = signals.requested() ? StopReason::kSignal : should_stop();
    if (validation_due) {
      validate();
      reason = reason ? reason : should_stop();
    }
    if (validation_due || reason) {
      save();
    }
  }
  finish(*reason);
  // A signal that came while a finished run was tidying up has stopped nothing.
  exit_status_ = *reason == StopReason::kSignal ? signals.exit_status() : 0;
  return *reason;
}

void Trainer::one_update() {
  std::vector<data::Batch> batches;
  for (int64_t part = 0; part < options_.batch.accumulate; ++part) {
    batches.push_back(batcher_->next());
  }
  const int64_t step = state_.step + 1;
  const double rate = learning_rate(options_.schedule, step);
  const UpdateResult result = replicas_->update(batches, step, rate, options_.run.seed);
  count_update(result);
  if (result.applied) {
    update_average();
  }
  report_->progress({state_.step, options_.run.max_steps, epoch(), state_.window.loss_per_token(), window_speed(), rate,
                     seconds_left(), state_.skipped_updates(), window_kl()});
}

void Trainer::count_update(const UpdateResult& result) {
  ++state_.step;
  state_.applied_updates = replicas_->applied_updates();
  state_.target_tokens += result.sums.tokens;
  last_norm_ = result.gradient_norm;
  if (result.applied) {
    state_.skipped_in_a_row = 0;
    state_.window += result.sums;
    return;
  }
  ++state_.skipped_in_a_row;
  report_->event({state_.step, "skipped_update",
                  fmt::format("step {}: a gradient is not finite; the update is skipped ({} in a row)", state_.step,
                              state_.skipped_in_a_row),
                  seconds()});
  base::check(state_.skipped_in_a_row < kMaxSkippedInARow, base::ErrorKind::kRuntime,
              "train: {} updates in a row had gradients that are not finite (last at step {}); the last checkpoint is "
              "intact; lower --learning-rate or raise --warmup-steps",
              kMaxSkippedInARow, state_.step);
}

void Trainer::update_average() {
  if (average_.defined()) {
    // Early on the average follows fast, or it would remember the random start for long.
    const double updates = static_cast<double>(state_.applied_updates);
    const double decay = std::min(options_.run.ema_decay, (1.0 + updates) / (10.0 + updates));
    ops::ema_update(average_.span<float>(), model_->parameters().values().span<float>(), decay);
  }
}

void Trainer::log_window() {
  report_->train_row({state_.step, epoch(), state_.window.loss_per_token(),
                      learning_rate(options_.schedule, state_.step), window_speed(), last_norm_, seconds(),
                      window_kl()});
  watch_loss(state_.window.loss_per_token());
  state_.window = {};
  state_.window_start = seconds();
}

// Gradients of a run that has diverged may well be finite. Guessing without looking at the text costs ln V.
void Trainer::watch_loss(double loss) {
  const double guessing = std::log(static_cast<double>(options_.model.target_vocab_size));
  lost_windows_ = loss > guessing && state_.step > kStepsToSettle ? lost_windows_ + 1 : 0;
  if (lost_windows_ == kLostWindows) {
    report_->warning(fmt::format(
        "the loss is {:.2f} nats a token at step {}, more than guessing would cost ({:.2f}): the run has probably "
        "diverged; start anew with a lower --learning-rate, more --warmup-steps or --clip-norm 1",
        loss, state_.step, guessing));
  }
}

void Trainer::validate() {
  if (!validator_->has_data()) {
    publish();
    return;
  }
  const double started = seconds();
  swap_average();
  const ValidationResult result = validator_->run(*replicas_, *model_);
  const double score = result.score(options_.run.metric);
  const bool best = std::isfinite(result.sums.loss) && (state_.best_step == 0 || score > state_.best_score);
  if (std::isfinite(score)) {
    state_.scores[state_.step] = score;
  }
  state_.stale_validations = best ? 0 : state_.stale_validations + 1;
  if (best) {
    state_.best_step = state_.step;
    state_.best_score = score;
    publish_model(options_.model_folder, *model_, texts_);
  }
  report_->validation({state_.step, epoch(), result.sums.nll_per_token(), result.sums.perplexity(), result.bleu,
                       result.chrf, best, seconds()},
                      result, *validator_, attention_maps(*model_, *validator_));
  swap_average();
  if (plan_ && plan_->gives_back()) {
    reserve();
  }
  report_->write("training");
  state_.window_start += seconds() - started;  // validating is not training time
}

// Validation, publishing and averaging see the moving average where there is one.
void Trainer::swap_average() {
  if (average_.defined()) {
    std::ranges::swap_ranges(average_.span<float>(), model_->parameters().values().span<float>());
  }
}

void Trainer::publish() {
  swap_average();
  publish_model(options_.model_folder, *model_, texts_);
  swap_average();
}

void Trainer::save() {
  base::check(ops::all_finite(model_->parameters().values().span<float>()), base::ErrorKind::kRuntime,
              "train: a weight is not finite at step {}; nothing is saved, the last checkpoint is intact", state_.step);
  state_.seconds = seconds();
  state_.batcher = batcher_->state().dump();
  state_.workers = options_.run.workers;
  const auto folder = checkpoint_folder(options_.model_folder, state_.step);
  save_checkpoint(options_.model_folder, *model_,
                  {replicas_->adam().first_moment(), replicas_->adam().second_moment(), average_},
                  {folder, state_, recipe_json(options_), texts_});
  const RunOptions& run = options_.run;
  prune_checkpoints(options_.model_folder, state_.scores, {run.keep_last, run.keep_best, run.validate_every});
  report_->checkpoint({state_.step, folder.filename().string(), seconds()});
}

std::optional<StopReason> Trainer::should_stop() const {
  const RunOptions& run = options_.run;
  if (run.patience > 0 && state_.stale_validations >= run.patience) {
    return StopReason::kEarlyStop;
  }
  if (state_.step >= run.max_steps) {
    return StopReason::kMaxSteps;
  }
  if (run.max_epochs > 0 && batcher_->epoch() >= static_cast<uint64_t>(run.max_epochs)) {
    return StopReason::kMaxEpochs;
  }
  if (run.total_minutes > 0.0 && seconds() >= 60.0 * run.total_minutes) {
    return StopReason::kTotalTime;
  }
  if (run.max_minutes > 0.0 && seconds() - seconds_before_ >= 60.0 * run.max_minutes) {
    return StopReason::kMaxTime;
  }
  return std::nullopt;
}

double Trainer::seconds() const {
  return seconds_before_ + (run_start_ > 0.0 ? clock_seconds() - run_start_ : 0.0);
}

double Trainer::epoch() const {
  return static_cast<double>(state_.target_tokens) / static_cast<double>(corpus_->statistics().target_tokens);
}

double Trainer::window_speed() const {
  const double elapsed = seconds() - state_.window_start;
  return elapsed > 0.0 ? static_cast<double>(state_.window.tokens) / elapsed : 0.0;
}

double Trainer::window_kl() const {
  return options_.loss.rdrop > 0.0 ? state_.window.kl_per_token() : kNotMeasured;
}

// By the speed of this process so far, validations included, or by the limits on time.
double Trainer::seconds_left() const {
  const double elapsed = seconds() - seconds_before_;
  const auto done = static_cast<double>(state_.step - first_step_);
  const RunOptions& run = options_.run;
  const double total = run.total_minutes > 0.0 ? 60.0 * run.total_minutes - seconds() : HUGE_VAL;
  const double now = run.max_minutes > 0.0 ? 60.0 * run.max_minutes - elapsed : HUGE_VAL;
  return done > 0.0 ? std::min({elapsed / done * static_cast<double>(run.max_steps - state_.step), total, now}) : -1.0;
}

}  // namespace dragoman::training
