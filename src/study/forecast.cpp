#include "study/forecast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "report/metrics_log.h"
#include "study/text_part.h"

namespace dragoman::study {
namespace {

using Texts = std::map<std::string, std::filesystem::path>;

// A run ends with a validation, which would take longer than the updates that are measured.
constexpr size_t kValidationLines = 16;

// The texts of a study; those of which a part is taken, and first lines of the validation texts, in files behind
// `scratch`.
Texts measured_texts(const Study& study, const std::filesystem::path& scratch) {
  Texts texts = study.texts;
  for (auto& [name, path] : texts) {
    const bool is_validation = name.starts_with("valid-");
    const TextPart part = study.part_of(name);
    if (is_validation || !part.is_whole()) {
      Lines lines = read_part(path, part);
      lines.resize(is_validation ? std::min(lines.size(), kValidationLines) : lines.size());
      path = fmt::format("{}.{}", scratch.string(), name);
      write_lines(path, lines);
    }
  }
  return texts;
}

// Whether it is the study that limits the updates, and the preset alone that limits the minutes.
bool asks_for_updates(const Study& study, const Row& row, const Stage& stage) {
  const OptionList options = study.options_of(row, stage);
  return options.find("max-steps") != nullptr && options.find("total-minutes") == nullptr;
}

double seconds_of_update(const std::vector<report::TrainRow>& rows) {
  if (rows.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (rows.back().step == rows.front().step) {
    return rows.back().seconds / static_cast<double>(rows.back().step);
  }
  return (rows.back().seconds - rows.front().seconds) / static_cast<double>(rows.back().step - rows.front().step);
}

}  // namespace

TrainingLimits limits_of_stage(const Study& study, const Row& row, const Stage& stage, const LimitsOf& limits_of) try {
  std::vector<std::string> words = train_arguments(study, {&row, study.seeds.front()}, stage);
  if (!stage.start_from.empty()) {
    words.push_back("--initial-model=" + stage.start_from);
  }
  bool texts_are_there = true;
  const std::vector<std::string> of_texts =
      text_arguments(study, stage, [&](const std::string& name, const std::string& side) {
        const auto text = study.texts.find(name);
        if (text == study.texts.end() && side.starts_with("valid-")) {
          return std::filesystem::path();
        }
        const bool is_there = text != study.texts.end() && !study.copies(name);
        texts_are_there = texts_are_there && is_there;
        return is_there ? text->second : std::filesystem::path(name);
      });
  words.insert(words.end(), of_texts.begin(), of_texts.end());
  return limits_of(words, texts_are_there);
} catch (const base::Error& error) {
  base::fail(error.kind(), "{}: row {}, stage {}: {}", study.where(row.place), row.name, stage.name, error.what());
}

Forecast forecast(const Study& study, const Row& row, const LimitsOf& limits_of, const UpdateSeconds& measured) {
  Forecast result{&row, 0.0};
  for (const Stage& stage : study.stages) {
    if (stage.kind != StageKind::kTrain) {
      continue;
    }
    const TrainingLimits limits = limits_of_stage(study, row, stage, limits_of);
    const auto found = measured.find(stage.name);
    const double by_updates = found == measured.end() ? std::numeric_limits<double>::quiet_NaN()
                                                      : found->second * static_cast<double>(limits.max_steps) / 60.0;
    const bool ends_by_clock =
        limits.total_minutes > 0.0 && (found != measured.end() || !asks_for_updates(study, row, stage));
    result.minutes += ends_by_clock ? std::fmin(limits.total_minutes, by_updates) : by_updates;
  }
  return result;
}

double measure_update(const Study& study, const Row& row, const Stage& stage, const std::filesystem::path& scratch,
                      double seconds, const Program& program) {
  Stage alone = stage;
  alone.start_from.clear();
  OptionList& options = alone.options;
  options = study.options_of(row, alone);
  options.set("max-minutes", {fmt::format("{:.6g}", seconds / 60.0)});
  options.set("validate-every", {"1000000000"});
  options.set("log-every", {"1"});
  options.set("average", {"0"});
  base::remove_quietly(scratch);
  std::vector<std::string> words = {"train", "--model=" + scratch.string()};
  const std::vector<std::string> given = options.arguments();
  words.insert(words.end(), given.begin(), given.end());
  const Texts texts = measured_texts(study, scratch);
  const std::vector<std::string> of_texts =
      text_arguments(study, stage, [&](const std::string& name, const std::string& side) {
        const auto text = texts.contains(name) ? texts.find(name) : texts.find(side);
        return text == texts.end() ? std::filesystem::path() : text->second;
      });
  words.insert(words.end(), of_texts.begin(), of_texts.end());
  const int status = program(words, {});
  const double result = status == 0 ? seconds_of_update(report::read_metrics(scratch / report::kMetricsName).train)
                                    : std::numeric_limits<double>::quiet_NaN();
  base::remove_quietly(scratch);
  for (const auto& [name, path] : texts) {
    if (path != study.texts.at(name)) {
      base::remove_quietly(path);
    }
  }
  if (status != 0) {
    throw CommandFailed{status, fmt::format("{}", fmt::join(words, " "))};
  }
  return result;
}

}  // namespace dragoman::study
