#pragma once

#include <iosfwd>
#include <memory>
#include <optional>

#include "base/folder_lock.h"
#include "base/signals.h"
#include "data/batcher.h"
#include "data/encoded_corpus.h"
#include "models/model.h"
#include "training/checkpoint.h"
#include "training/data_parallel.h"
#include "training/memory_plan.h"
#include "training/run_report.h"
#include "training/run_state.h"
#include "training/train_options.h"
#include "training/validator.h"

namespace dragoman::training {

struct RunStart;

/// Why a run came to its end.
enum class StopReason { kMaxSteps, kMaxEpochs, kTotalTime, kMaxTime, kEarlyStop, kSignal };

/// Trains one model from raw parallel text into a model folder, resuming when the folder holds a checkpoint.
/// The folder then holds the best model so far at its top, checkpoints/step-N/, metrics.jsonl, event files,
/// report.html.
class Trainer {
 public:
  /// Everything before the first update: reads and counts the text, learns or loads the vocabularies, builds or loads
  /// the model. Throws Error before any update for bad options (kUsage) or data (kBadData).
  Trainer(const TrainOptions& options, std::ostream& terminal);
  /// The same as one of several processes, which all make the same calls. The leading one alone writes and speaks.
  /// Throws Error on all of them when they disagree about program, options or text (rank_agreement.h), and from run()
  /// when their weights have drifted apart. @param processes  must outlive this
  Trainer(const TrainOptions& options, distributed::ProcessGroup& processes, std::ostream& terminal);
  ~Trainer();

  /// Trains to the end. Throws Error(kRuntime) after 20 updates in a row with non-finite gradients.
  StopReason run();

  const RunState& state() const { return state_; }
  /// How memory is shared out; nothing unless options ask for it (RunOptions::memory, BatchOptions::fit).
  const std::optional<MemoryPlan>& plan() const { return plan_; }
  models::Model& model() { return *model_; }
  /// 0, or 130 / 143 when a signal ended the run after saving.
  int exit_status() const { return exit_status_; }

 private:
  Trainer(const TrainOptions& options, std::unique_ptr<distributed::ProcessGroup> alone, std::ostream& terminal);
  void adopt_shape(const std::string& config);
  void make_model(RunStart& start);
  void restore(const Checkpoint& checkpoint);
  void plan_memory();
  void reserve();
  void describe();
  void one_update();
  void count_update(const UpdateResult& result);
  void update_average();
  void log_window();
  void watch_loss(double loss);
  void validate();
  void swap_average();
  void publish();
  void publish_weights();
  void save();
  void finish(StopReason reason);
  void average_checkpoints();
  std::vector<std::filesystem::path> checkpoints_to_average() const;
  std::optional<StopReason> should_stop(const base::StopSignals& signals);
  double seconds() const;
  double epoch() const;
  double window_speed() const;
  double window_kl() const;
  double seconds_left() const;

  TrainOptions options_;
  std::unique_ptr<distributed::ProcessGroup> alone_;  // for a trainer that was given no processes
  distributed::ProcessGroup& processes_;
  std::unique_ptr<base::FolderLock> lock_;  // of the leading process
  ModelTexts texts_;                        // what goes into every folder beside the tensors
  std::unique_ptr<data::EncodedCorpus> corpus_;
  std::unique_ptr<data::Batcher> batcher_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<DataParallel> replicas_;
  std::unique_ptr<Validator> validator_;
  std::unique_ptr<RunReport> report_;
  tensor::Tensor average_;          // exponential moving average of the weights; undefined when off
  std::optional<MemoryPlan> plan_;  // where --memory or --batch-tokens auto ask for one
  RunState state_;
  std::vector<std::string> notes_;  // for the person, before the first update
  UpdateTimes times_;               // of all updates of this process
  double rate_ = 0.0;               // learning rate of the last update
  double last_norm_ = 0.0;
  int64_t lost_windows_ = 0;     // in a row, see watch_loss
  double run_start_ = 0.0;       // clock when this process began to train; 0 = not yet
  double seconds_before_ = 0.0;  // training time of earlier processes
  double agreed_seconds_ = 0.0;  // training time by the leading process's clock, the same for all processes
  int64_t first_step_ = 0;       // steps done by earlier processes
  int exit_status_ = 0;
};

}  // namespace dragoman::training
