#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/examples.h"
#include "report/training_report.h"
#include "training/memory_plan.h"
#include "training/train_options.h"

namespace dragoman::training {

/// The tables of the report: model, data, training, machine, and memory where it is planned.
/// @param options  with vocabulary sizes and workers filled in
std::vector<report::ReportFactGroup> run_facts(const TrainOptions& options, int64_t parameters,
                                               const data::Examples& examples, const std::optional<MemoryPlan>& plan);

/// What a person should be told before the first update, whatever the task: a model too large for its text, products
/// that this processor computes slowly. Task::warnings has others.
std::vector<std::string> run_warnings(const TrainOptions& options, int64_t parameters,
                                      const data::CorpusStatistics& corpus);

}  // namespace dragoman::training
