#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/encoded_corpus.h"
#include "report/training_report.h"
#include "training/memory_plan.h"
#include "training/train_options.h"
#include "training/validator.h"

namespace dragoman::training {

/// The tables of the report: model, data, training, machine, and memory where it is planned.
/// @param options  with vocabulary sizes and workers filled in
std::vector<report::ReportFactGroup> run_facts(const TrainOptions& options, int64_t parameters,
                                               const data::CorpusStatistics& corpus,
                                               const std::optional<MemoryPlan>& plan);

/// What a person should be told before the first update: a model too large for its text, normalisation that loses
/// characters of the target text, a tokenizer that does not suit the validation text.
std::vector<std::string> run_warnings(const TrainOptions& options, int64_t parameters,
                                      const data::CorpusStatistics& corpus, const Validator& validator);

}  // namespace dragoman::training
