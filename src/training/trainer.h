#pragma once

#include <iosfwd>
#include <memory>
#include <optional>

#include "base/folder_lock.h"
#include "base/signals.h"
#include "data/batcher.h"
#include "models/model.h"
#include "training/data_parallel.h"
#include "training/loss_watch.h"
#include "training/memory_plan.h"
#include "training/publisher.h"
#include "training/run_listener.h"
#include "training/run_progress.h"
#include "training/run_report.h"
#include "training/stop_rule.h"
#include "training/task.h"
#include "training/train_options.h"
#include "training/weight_average.h"

namespace dragoman::training {

struct RunStart;

/// Trains one model from text into a model folder, and resumes if the folder holds a checkpoint. The folder then holds
/// the best model so far at its top, checkpoints/step-N/, metrics.jsonl, event files and report.html.
///
/// The trainer puts parts together that have files of their own: Task, Batcher, DataParallel, WeightAverage,
/// Validation, Publisher, RunClock, RunProgress, LossWatch, reason_to_stop and RunReport.
class Trainer {
 public:
  /// Does everything before the first update: reads and counts the text, learns or loads the vocabularies, builds or
  /// loads the model. Throws: Error before any update, for bad options (kUsage) or data (kBadData).
  Trainer(const TrainOptions& options, std::ostream& terminal);
  /// The same as one of several processes, which all make the same calls. Only the leading one writes and speaks.
  /// Throws: Error on all of them if they disagree about program, options or text (rank_agreement.h), and from run()
  /// if their weights have drifted apart.
  /// Requires: `processes` outlives this.
  Trainer(const TrainOptions& options, distributed::ProcessGroup& processes, std::ostream& terminal);
  /// The same for a task of the caller's own.
  Trainer(const TrainOptions& options, std::unique_ptr<Task> task, distributed::ProcessGroup& processes,
          std::ostream& terminal);
  ~Trainer();

  /// Has the functions called from now on.
  void listen(RunListener listener) { listener_ = std::move(listener); }

  /// Trains to the end. Throws: Error(kRuntime) after 20 updates in a row with non-finite gradients.
  StopReason run();

  const RunState& state() const { return state_; }
  /// Returns: how memory is shared out; nothing unless options ask for it (RunOptions::memory, BatchOptions::fit).
  const std::optional<MemoryPlan>& plan() const { return plan_; }
  models::Model& model() { return *model_; }
  /// Returns: 0, or 130 or 143 if a signal ended the run after saving.
  int exit_status() const { return exit_status_; }

 private:
  Trainer(const TrainOptions& options, std::unique_ptr<distributed::ProcessGroup> alone, std::ostream& terminal);
  void complete_options();
  void agree_and_lock();
  void adopt(const RunStart& start, std::vector<std::string>& notes);
  void adopt_shape(const std::string& config);
  void make_parts(RunStart& start, std::vector<std::string>& notes);
  void make_model(RunStart& start);
  void restore(const Checkpoint& checkpoint, std::vector<std::string>& notes);
  void compare_from_here(std::vector<std::string>& notes);
  void plan_memory();
  void reserve();
  void describe(const data::VocabularyPair& vocabularies);
  void one_update();
  void count_update(const UpdateResult& result);
  void log_window();
  void validate();
  bool is_validated() const { return state_.scores.contains(state_.step); }
  ValidationLimits validation_limits() const;
  void save();
  void finish(StopReason reason);
  bool average_checkpoints();
  bool average_is_best(size_t checkpoints);
  void publish_best();
  std::optional<StopReason> should_stop(const base::StopSignals& signals);

  TrainOptions options_;
  std::unique_ptr<distributed::ProcessGroup> alone_;  // for a trainer that was given no processes
  distributed::ProcessGroup& processes_;
  std::unique_ptr<base::FolderLock> lock_;  // of the leading process
  std::unique_ptr<Task> task_;
  std::unique_ptr<data::Examples> examples_;
  std::unique_ptr<data::Batcher> batcher_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<DataParallel> replicas_;
  std::unique_ptr<WeightAverage> average_;
  std::unique_ptr<Validation> validation_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<RunReport> report_;
  std::optional<MemoryPlan> plan_;  // where --memory or --batch-tokens auto ask for one
  RunState state_;
  RunClock clock_;
  std::unique_ptr<RunProgress> progress_;
  std::unique_ptr<LossWatch> loss_watch_;
  bool has_published_best_ = false;  // by this process
  RunListener listener_;
  bool is_asked_to_stop_ = false;  // by the listener
  int exit_status_ = 0;
};

}  // namespace dragoman::training
