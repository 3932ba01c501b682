#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "training/metrics_log.h"
#include "training/progress_line.h"
#include "training/report.h"
#include "training/run_state.h"
#include "training/tensorboard.h"
#include "training/train_options.h"
#include "training/validator.h"

namespace dragoman::training {

/// The trainer tells a report what happened. This one drops it all: the report of a rank that does not lead.
class RunReport {
 public:
  virtual ~RunReport() = default;
  /// A line for the person, above the progress line.
  virtual void message(const std::string&) {}
  /// A warning: shown now and in the report.
  virtual void warning(const std::string&) {}
  virtual void facts(std::vector<ReportFactGroup>) {}

  virtual void progress(const Progress&) {}
  virtual void train_row(const TrainRow&) {}
  /// @param attention  maps of the first validation sentence
  virtual void validation(const ValidationRow&, const ValidationResult&, const Validator&, std::vector<HeatMap>) {}
  virtual void checkpoint(const CheckpointRow&) {}
  /// @param text  the plan for a person
  virtual void memory(const MemoryRow&, const std::string&) {}
  virtual void event(const EventRow&) {}
  /// Writes report.html with this status: "training", "finished", ...
  virtual void write(const std::string&) {}
  virtual void finish_line() {}
};

/// What a person sees of a run: the progress line, metrics.jsonl, the TensorBoard event file and report.html, all in
/// the model folder.
class FolderReport : public RunReport {
 public:
  /// @param resume_step  0 for a new run; rows after it are forgotten
  FolderReport(const TrainOptions& options, int64_t resume_step, std::ostream& terminal);

  void message(const std::string& text) override;
  void warning(const std::string& text) override;
  void facts(std::vector<ReportFactGroup> groups) override { data_.facts = std::move(groups); }
  void progress(const Progress& progress) override;
  void train_row(const TrainRow& row) override;
  void validation(const ValidationRow& row, const ValidationResult& result, const Validator& validator,
                  std::vector<HeatMap> attention) override;
  void checkpoint(const CheckpointRow& row) override;
  void memory(const MemoryRow& row, const std::string& text) override;
  void event(const EventRow& row) override;
  void write(const std::string& status) override;
  void finish_line() override { line_.finish(); }

 private:
  void load_samples(int64_t resume_step);
  void keep_samples(int64_t step, const ValidationResult& result, const Validator& validator);

  std::filesystem::path folder_;
  MetricsLog metrics_;
  TensorBoardWriter tensorboard_;
  ProgressLine line_;
  ReportData data_;
};

}  // namespace dragoman::training
