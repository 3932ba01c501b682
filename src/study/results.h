#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoding/search/options.h"
#include "report/metrics_log.h"
#include "study/compare.h"
#include "study/study_folder.h"
#include "study/test_scorer.h"

namespace dragoman::study {

/// What one finished cell has given.
struct CellResult {
  uint64_t seed = 0;
  int64_t parameters = 0;
  int64_t updates = 0;
  double epochs = 0.0;
  double minutes = 0.0;                         ///< of training, all stages
  double last_minutes = 0.0;                    ///< of the last one
  double loss = report::kNotMeasured;           ///< least validation loss of the last stage
  bool ended_by_patience = false;               ///< the last one: it would have gone on without progress
  std::string vocabulary;                       ///< hashes of the vocabularies of its model
  std::map<std::string, std::string> settings;  ///< of its model, by name (settings_of)
  std::vector<report::ValidationRow> curve;
  /// By search and test set, in the order of the study's metrics.
  std::map<std::string, std::map<std::string, std::vector<double>>> scores;
  std::map<std::string, evaluation::CountTable> counts;  ///< of the first metric and search, by test set
  /// Of translations: the first metric by test set and group of lengths, for the first search.
  std::map<std::string, std::vector<double>> score_by_length;
  std::map<std::string, std::map<std::string, double>> perplexities;  ///< by entry of Study::perplexities and test set
  std::optional<decoding::SearchOptions> tuned;                       ///< what its model is searched with
  std::map<std::string, double> sentences_per_second;                 ///< by search; none if it was not measured
};

struct RowResult {
  const Row* row = nullptr;
  std::vector<CellResult> cells;  ///< in the order of the seeds

  /// Returns: the scores of the cells, by a search on a test set. @param metric  number of a metric of the study
  std::vector<double> scores(const std::string& search, const std::string& test, size_t metric) const;
};

/// A row against the baseline on one test set, or by the validation loss.
struct RowComparison {
  const Row* row = nullptr;
  std::string test;
  size_t seeds = 0;
  Comparison comparison;
};

/// The results of a study as far as it is done.
struct StudyResults {
  std::vector<RowResult> rows;  ///< those with a finished cell
  std::vector<std::string> tests;
  std::vector<std::string> metrics;                         ///< their names: "BLEU", "chrF2"
  std::map<std::string, std::vector<LengthGroup>> lengths;  ///< of translations, by test set: those with sentences
  std::vector<RowComparison> comparisons;                   ///< test by test, over seeds that both sides have
  /// Rows that are not compared by the validation loss: they have none, or another vocabulary than the baseline, so
  /// that their losses are of other pieces.
  std::vector<std::string> incomparable;
  std::vector<std::string> signatures;  ///< of the metrics: "BLEU|nrefs:1|case:mixed|..."
  size_t planned_cells = 0, done_cells = 0;
  std::vector<std::string> changed_cells;  ///< those that were done with other options or tests, which `rows` lacks
};

/// Reads what the finished cells of a folder have given, and compares. Throws: Error(kBadData) for damaged files.
StudyResults collect(const Study& study, const StudyFolder& folder);

/// Returns the results as JSON text without times, so that an interrupted study gives the same bytes as another one.
std::string results_json(const Study& study, const StudyResults& results);

}  // namespace dragoman::study
