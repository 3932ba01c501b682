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

/// What a person sees of a run: the progress line, metrics.jsonl, the TensorBoard event file and report.html, all in
/// the model folder. The trainer tells it what happened; it decides how that looks.
class RunReport {
 public:
  /// @param resume_step  0 for a new run; rows after it are forgotten
  RunReport(const TrainOptions& options, int64_t resume_step, std::ostream& terminal);

  /// A line for the person, above the progress line.
  void message(const std::string& text);
  /// A warning: shown now and in the report.
  void warning(const std::string& text);
  void facts(std::vector<ReportFactGroup> groups) { data_.facts = std::move(groups); }

  void progress(const Progress& progress);
  void train_row(const TrainRow& row);
  /// @param attention  maps of the first validation sentence
  void validation(const ValidationRow& row, const ValidationResult& result, const Validator& validator,
                  std::vector<HeatMap> attention);
  void checkpoint(const CheckpointRow& row);
  /// @param text  the plan for a person
  void memory(const MemoryRow& row, const std::string& text);
  void event(const EventRow& row);
  /// Writes report.html with this status: "training", "finished", ...
  void write(const std::string& status);
  void finish_line() { line_.finish(); }

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
