#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "report/append_file.h"

namespace dragoman::report {

/// The name of the file with the metrics of the training, in a model folder.
inline constexpr const char* kMetricsName = "metrics.jsonl";

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// The rows of metrics.jsonl, one type for each kind. A number that is not finite is written as null and read as NaN.
struct TrainRow {
  int64_t step = 0;
  double epoch = 0.0;
  double loss = kNotMeasured;  ///< nats per target token, cross-entropy with label smoothing, since the last row
  double learning_rate = kNotMeasured;
  double tokens_per_second = kNotMeasured;  ///< target tokens
  double grad_norm = kNotMeasured;          ///< before clipping
  double seconds = 0.0;                     ///< training time over all runs
  double kl = kNotMeasured;  ///< R-Drop, SimCut: divergence of the two passes, nats per target token, not in loss
};

struct ValidationRow {
  int64_t step = 0;
  double epoch = 0.0;
  double loss = kNotMeasured;  ///< nats per target token, without label smoothing
  double perplexity = kNotMeasured;
  double bleu = kNotMeasured;  ///< 0 to 100
  double chrf = kNotMeasured;  ///< 0 to 100
  bool is_best = false;        ///< better than all earlier validations
  double seconds = 0.0;
  double accuracy = kNotMeasured;  ///< 0 to 100, of labels, of hidden words or of pairs of texts
  double mrr = kNotMeasured;       ///< 0 to 100, mean reciprocal rank of the right texts

  /// Calls visit(base::Field) for each field, in the order of a row of metrics.jsonl.
  template <typename Visit>
  static void fields(Visit&& visit) {
    using base::Field;
    using R = ValidationRow;
    visit(Field("step", &R::step, "Number of updates"));
    visit(Field("epoch", &R::epoch, "Passes over the text"));
    visit(Field("loss", &R::loss, "Loss without label smoothing", {}, "nats per target token"));
    visit(Field("perplexity", &R::perplexity, "e to the power of the loss"));
    visit(Field("bleu", &R::bleu, "BLEU", {0, 100}));
    visit(Field("chrf", &R::chrf, "chrF", {0, 100}));
    visit(Field("is_best", &R::is_best, "Better than all earlier validations"));
    visit(Field("seconds", &R::seconds, "Training time over all runs", {}, "seconds"));
    visit(Field("accuracy", &R::accuracy, "Right labels, hidden words or pairs of texts", {0, 100}, "percent"));
    visit(Field("mrr", &R::mrr, "Mean reciprocal rank of the right texts", {0, 100}, "percent"));
  }
};

struct CheckpointRow {
  int64_t step = 0;
  std::string folder;
  double seconds = 0.0;
};

struct EventRow {
  int64_t step = 0;
  std::string name;  ///< "start", "resume", "skipped_update", "early_stop", "finish", ...
  std::string text;  ///< message for the user
  double seconds = 0.0;
};

/// The plan of the memory, in bytes by name (MemoryPlan::parts).
struct MemoryRow {
  int64_t step = 0;
  int64_t batch_tokens = 0;
  int64_t accumulate = 1;
  std::vector<std::pair<std::string, uint64_t>> bytes;
  double seconds = 0.0;
};

/// The content of a metrics.jsonl, each kind of row in the order of writing.
struct MetricsHistory {
  std::vector<TrainRow> train;
  std::vector<ValidationRow> validation;
  std::vector<CheckpointRow> checkpoints;
  std::vector<EventRow> events;
  std::vector<MemoryRow> memory;
  int64_t damaged_lines = 0;  ///< number of lines that are cut short or no valid row
};

/// Reads a metrics.jsonl. A damaged line, such as a last line that was cut short, is left out and counted. A missing
/// file gives an empty history. Throws: Error(kBadData) if an existing file cannot be read.
[[nodiscard]] MetricsHistory read_metrics(const std::filesystem::path& path);

/// A writer of metrics.jsonl. Each line is one JSON object with the fields of its row and "kind": train, validation,
/// checkpoint, event or memory. `append` returns after the system has accepted the line.
/// Threads: one thread at a time.
///   {"kind":"train","step":50,"epoch":0.25,"loss":7.1,"learning_rate":1e-4,"tokens_per_second":4200.0,...}
class MetricsLog {
 public:
  /// Opens `path` for a run that resumes after `resume_step`, or starts with 0. An atomic rewrite first removes the
  /// rows of later steps and damaged lines, so the file is that of an uninterrupted run. Throws: Error(kCannotWrite) or
  /// Error(kBadData).
  MetricsLog(const std::filesystem::path& path, int64_t resume_step);

  /// Append a row. Throw: Error(kCannotWrite); the file then ends with the last complete line.
  void append(const TrainRow& row);
  void append(const ValidationRow& row);
  void append(const CheckpointRow& row);
  void append(const EventRow& row);
  void append(const MemoryRow& row);

 private:
  AppendFile file_;
};

}  // namespace dragoman::report
