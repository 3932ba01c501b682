#include "training/run_report.h"

#include <unistd.h>

#include <fmt/format.h>
#include <cmath>
#include <ostream>

#include "base/local_time.h"
#include "report/svg_heat_map.h"
#include "report/terminal.h"

namespace dragoman::training {
namespace {

report::ProgressLineOptions line_options(const TrainOptions& options) {
  report::ProgressLineOptions line = report::progress_line_options_for(STDERR_FILENO);
  line.plain_every_steps = options.run.log_every;
  line.plain_interval_seconds = 0;
  return line;
}

}  // namespace

FolderReport::FolderReport(const TrainOptions& options, int64_t resume_step, std::ostream& terminal)
    : folder_(options.model_folder),
      metrics_(folder_ / report::kMetricsName, resume_step),
      attention_(folder_ / report::kAttentionHistoryName, resume_step),
      tensorboard_(folder_, resume_step),
      line_(terminal, line_options(options)) {
  data_.title = "Training report";
  data_.subtitle = options.preset + ", " + folder_.filename().string();
  load_samples(resume_step);
}

void FolderReport::message(const std::string& text) {
  line_.message(text);
}

void FolderReport::warning(const std::string& text) {
  line_.message(report::colored("warning:", report::Color::kYellow, report::shows_colors(STDERR_FILENO)) + " " + text);
  data_.warnings.push_back(text);
}

void FolderReport::progress(const report::Progress& progress) {
  line_.update(progress);
}

void FolderReport::train_row(const report::TrainRow& row) {
  metrics_.append(row);
  tensorboard_.scalar("train/loss", row.step, row.loss);
  tensorboard_.scalar("train/learning_rate", row.step, row.learning_rate);
  tensorboard_.scalar("train/tokens_per_second", row.step, row.tokens_per_second);
  tensorboard_.scalar("train/grad_norm", row.step, row.grad_norm);
  if (std::isfinite(row.kl)) {
    tensorboard_.scalar("train/kl", row.step, row.kl);
  }
}

void FolderReport::validation(const report::ValidationRow& row, const ValidationResult& result,
                              std::vector<report::HeatMap> attention) {
  metrics_.append(row);
  tensorboard_.scalar("validation/loss", row.step, row.loss);
  tensorboard_.scalar("validation/perplexity", row.step, row.perplexity);
  if (std::isfinite(row.bleu)) {
    tensorboard_.scalar("validation/bleu", row.step, row.bleu);
  }
  if (std::isfinite(row.chrf)) {
    tensorboard_.scalar("validation/chrf", row.step, row.chrf);
  }
  if (std::isfinite(row.accuracy)) {
    tensorboard_.scalar("validation/accuracy", row.step, row.accuracy);
  }
  if (std::isfinite(row.mrr)) {
    tensorboard_.scalar("validation/mrr", row.step, row.mrr);
  }
  keep_samples(row.step, result);
  data_.attention = std::move(attention);
  attention_.add({row.step, data_.attention});
  std::string text =
      fmt::format("validation at step {}: loss {:.4f}  perplexity {:.3f}", row.step, row.loss, row.perplexity);
  for (const std::string& score : result.scores_text()) {
    text += "  " + score;
  }
  line_.message(text + (row.is_best ? "  (best so far)" : ""));
}

void FolderReport::checkpoint(const report::CheckpointRow& row) {
  metrics_.append(row);
}

void FolderReport::memory(const report::MemoryRow& row, const std::string& text) {
  metrics_.append(row);
  line_.message(text);
}

void FolderReport::event(const report::EventRow& row) {
  metrics_.append(row);
  line_.message(row.text);
}

void FolderReport::write(const std::string& status) {
  data_.status = status;
  data_.updated = base::local_time("%Y-%m-%d %H:%M");
  data_.metrics = report::read_metrics(folder_ / report::kMetricsName);
  report::write_report(folder_ / "report.html", data_);
}

void FolderReport::keep_samples(int64_t step, const ValidationResult& result) {
  report::SampleSet set{step, result.samples};
  tensorboard_.text("validation/sample", step, set.samples.empty() ? "" : set.samples.front().hypothesis);
  data_.samples.push_back(std::move(set));
  report::write_samples(folder_ / report::kSamplesName, data_.samples);
}

// Samples only decorate the report: a damaged file costs them, not the run.
void FolderReport::load_samples(int64_t resume_step) try {
  if (resume_step > 0) {
    data_.samples = report::read_samples(folder_ / report::kSamplesName);
    std::erase_if(data_.samples, [&](const report::SampleSet& set) { return set.step > resume_step; });
  }
} catch (const std::exception& error) {
  data_.samples.clear();
  line_.message(fmt::format("note: earlier sample translations are left out of the report: {}", error.what()));
}

}  // namespace dragoman::training
