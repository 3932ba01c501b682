#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "report/append_file.h"

namespace dragoman::report {

/// The file of a model folder that holds the metrics of its training.
inline constexpr const char* kMetricsName = "metrics.jsonl";

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// One row of each kind of metrics.jsonl. A number that is not finite is written as null and read as NaN.
struct TrainRow {
  int64_t step = 0;
  double epoch = 0.0;
  double loss = kNotMeasured;  ///< nats per target token, cross-entropy with label smoothing, since the last row
  double learning_rate = kNotMeasured;
  double tokens_per_second = kNotMeasured;  ///< target tokens
  double grad_norm = kNotMeasured;          ///< before clipping
  double seconds = 0.0;                     ///< training time so far, all runs together
  double kl = kNotMeasured;  ///< R-Drop: divergence of the two passes, nats per target token, not in loss
};

struct ValidationRow {
  int64_t step = 0;
  double epoch = 0.0;
  double loss = kNotMeasured;  ///< nats per target token, without label smoothing
  double perplexity = kNotMeasured;
  double bleu = kNotMeasured;  ///< 0 to 100
  double chrf = kNotMeasured;  ///< 0 to 100
  bool is_best = false;        ///< better than every one before it
  double seconds = 0.0;
};

struct CheckpointRow {
  int64_t step = 0;
  std::string folder;
  double seconds = 0.0;
};

struct EventRow {
  int64_t step = 0;
  std::string name;  ///< "start", "resume", "skipped_update", "early_stop", "finish", ...
  std::string text;  ///< for a person
  double seconds = 0.0;
};

/// How memory is planned, in bytes by name (MemoryPlan::parts).
struct MemoryRow {
  int64_t step = 0;
  int64_t batch_tokens = 0;
  int64_t accumulate = 1;
  std::vector<std::pair<std::string, uint64_t>> bytes;
  double seconds = 0.0;
};

/// What a metrics.jsonl holds, each kind in the order written.
struct MetricsHistory {
  std::vector<TrainRow> train;
  std::vector<ValidationRow> validation;
  std::vector<CheckpointRow> checkpoints;
  std::vector<EventRow> events;
  std::vector<MemoryRow> memory;
  int64_t damaged_lines = 0;  ///< left out: torn by a kill, or not a row of this format
};

/// Reads a metrics.jsonl; a damaged line (a torn last one above all) is left out and counted. A missing file is an
/// empty history. Throws Error(kBadData) if it is there and cannot be read.
MetricsHistory read_metrics(const std::filesystem::path& path);

/// Appends to metrics.jsonl: one JSON object a line with the fields of its row and "kind" (train, validation,
/// checkpoint, event or memory), each line handed to the system before `append` returns. Not thread safe.
///   {"kind":"train","step":50,"epoch":0.25,"loss":7.1,"learning_rate":1e-4,"tokens_per_second":4200.0,...}
class MetricsLog {
 public:
  /// Opens `path` for a run that goes on after `resume_step` (0: from the start). Rows of later steps and damaged lines
  /// are removed first, by an atomic rewrite, so that the file reads as one run that never stopped.
  /// Throws Error(kCannotWrite or kBadData).
  MetricsLog(const std::filesystem::path& path, int64_t resume_step);

  /// Throws Error(kCannotWrite); the file then ends with the last whole line.
  void append(const TrainRow& row);
  void append(const ValidationRow& row);
  void append(const CheckpointRow& row);
  void append(const EventRow& row);
  void append(const MemoryRow& row);

 private:
  AppendFile file_;
};

}  // namespace dragoman::report
