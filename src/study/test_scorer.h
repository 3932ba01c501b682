#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evaluation/evaluate.h"
#include "study/study_folder.h"

namespace dragoman::study {

/// Sentences of a test set whose sources have about as many words, separated by blanks.
struct LengthGroup {
  size_t least = 0, most = 0;  ///< words; most = 0 for any number
  size_t lines = 0;
};

/// The metrics of a study and the references of its test sets, read once.
class TestScorer {
 public:
  /// @param cells  the finished ones; the labels that their models gave are known to the metrics
  /// Throws: Error(kBadData) for damaged files.
  TestScorer(const Study& study, const StudyFolder& folder, const std::vector<Cell>& cells);

  /// Returns the scores of the lines in a file, in the order of the study's metrics.
  /// @param counts  if not null, gets the counts of the first metric
  std::vector<double> scores(const std::string& test, const std::filesystem::path& file,
                             std::map<std::string, evaluation::CountTable>* counts) const;
  /// Returns the first metric of the sentences of each group of lengths.
  std::vector<double> score_by_length(const std::string& test, const evaluation::CountTable& counts) const;

  const evaluation::Metric& first_metric(const std::string& test) const { return *tests_.at(test).metrics.front(); }
  /// Returns the names of the metrics; none if there is no test set.
  std::vector<std::string> metric_names() const;
  /// Returns the signatures of the metrics, "BLEU|nrefs:1|case:mixed|...", in their order; none if there is no test
  /// set.
  std::vector<std::string> signatures() const;
  size_t lines_of(const std::string& test) const { return tests_.at(test).reference.lines.size(); }
  /// Returns the groups of translations by test set.
  std::map<std::string, std::vector<LengthGroup>> lengths() const;

 private:
  using Metrics = std::vector<std::unique_ptr<evaluation::Metric>>;
  struct OfTest {
    evaluation::Text reference;
    Metrics metrics;
    std::vector<LengthGroup> groups;    // of translations
    std::vector<size_t> group_of_line;  // likewise
  };

  std::vector<std::string> relevant(const std::filesystem::path& file, const OfTest& test) const;
  std::vector<std::string> labels_given(const StudyFolder& folder, const std::vector<Cell>& cells,
                                        const TestSet& test) const;
  Metrics metrics_of(const std::vector<std::string>& given, const OfTest& test) const;
  static void group_lines(OfTest& test, const std::vector<std::string>& sources);

  const Study& study_;
  std::map<std::string, OfTest> tests_;
};

}  // namespace dragoman::study
