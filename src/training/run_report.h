#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "report/attention_history.h"
#include "report/metrics_log.h"
#include "report/progress_line.h"
#include "report/svg_heat_map.h"
#include "report/tensorboard.h"
#include "report/training_report.h"
#include "training/run_state.h"
#include "training/train_options.h"
#include "training/validation.h"

namespace dragoman::training {

/// The trainer tells a report what happened. This one drops it all: the report of a rank that does not lead.
class RunReport {
 public:
  virtual ~RunReport() = default;
  /// A line for the person, above the progress line.
  virtual void message(const std::string&) {}
  /// A warning: shown now and in the report.
  virtual void warning(const std::string&) {}
  virtual void facts(std::vector<report::ReportFactGroup>) {}

  virtual void progress(const report::Progress&) {}
  virtual void train_row(const report::TrainRow&) {}
  /// @param attention  maps of the first validation sentence
  virtual void validation(const report::ValidationRow&, const ValidationResult&, std::vector<report::HeatMap>) {}
  virtual void checkpoint(const report::CheckpointRow&) {}
  /// @param text  the plan for a person
  virtual void memory(const report::MemoryRow&, const std::string&) {}
  virtual void event(const report::EventRow&) {}
  /// Writes report.html with this status: "training", "finished", ...
  virtual void write(const std::string&) {}
  virtual void finish_line() {}
};

/// What a person sees of a run: the progress line, metrics.jsonl, attention.json, the TensorBoard event file and
/// report.html, all in the model folder.
class FolderReport : public RunReport {
 public:
  /// @param resume_step  0 for a new run; rows after it are forgotten
  FolderReport(const TrainOptions& options, int64_t resume_step, std::ostream& terminal);

  void message(const std::string& text) override;
  void warning(const std::string& text) override;
  void facts(std::vector<report::ReportFactGroup> groups) override { data_.facts = std::move(groups); }
  void progress(const report::Progress& progress) override;
  void train_row(const report::TrainRow& row) override;
  void validation(const report::ValidationRow& row, const ValidationResult& result,
                  std::vector<report::HeatMap> attention) override;
  void checkpoint(const report::CheckpointRow& row) override;
  void memory(const report::MemoryRow& row, const std::string& text) override;
  void event(const report::EventRow& row) override;
  void write(const std::string& status) override;
  void finish_line() override { line_.finish(); }

 private:
  void load_samples(int64_t resume_step);
  void keep_samples(int64_t step, const ValidationResult& result);

  std::filesystem::path folder_;
  report::MetricsLog metrics_;
  report::AttentionHistory attention_;
  report::TensorBoardWriter tensorboard_;
  report::ProgressLine line_;
  report::ReportData data_;
};

}  // namespace dragoman::training
