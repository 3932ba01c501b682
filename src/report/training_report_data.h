#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/metrics_log.h"
#include "report/svg_heat_map.h"

namespace dragoman::report {

/// One line of a table of facts: "parameters", "3,452,160".
struct ReportFact {
  std::string name, value;
};

struct ReportFactGroup {
  std::string title;  ///< "Model", "Data", "Machine", ...
  std::vector<ReportFact> facts;
};

/// One sentence as the model translated it at some validation.
struct SampleTranslation {
  std::string source, reference, hypothesis;
};

/// The samples of one validation. The same sentences, in the same order, at each validation.
struct SampleSet {
  int64_t step = 0;
  std::vector<SampleTranslation> samples;
};

/// A drawing made elsewhere in dragoman. `svg` is put into the page as it is: never text from outside.
struct ReportFigure {
  std::string title, caption;
  std::string svg;
};

/// Everything the report shows; each part may be empty.
struct ReportData {
  std::string title = "Training report";
  std::string subtitle;               ///< "tiny, English to German"
  std::string status;                 ///< "training", "finished", "stopped early", ...
  std::string updated;                ///< date and time, as shown
  std::vector<std::string> warnings;  ///< "the model is large for the data: ..."
  std::vector<ReportFactGroup> facts;
  MetricsHistory metrics;
  std::vector<SampleSet> samples;  ///< in the order of the validations
  std::vector<ReportFigure> figures;
  std::vector<HeatMap> attention;
};

}  // namespace dragoman::report
