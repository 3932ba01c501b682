#pragma once

#include <vector>

#include "data/encoded_corpus.h"
#include "training/report.h"
#include "training/train_options.h"

namespace dragoman::training {

/// The tables of the report: model, data, training, machine.
/// @param options  with vocabulary sizes and workers filled in
std::vector<ReportFactGroup> run_facts(const TrainOptions& options, int64_t parameters,
                                       const data::CorpusStatistics& corpus);

}  // namespace dragoman::training
