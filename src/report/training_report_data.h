#pragma once

#include <string>
#include <vector>

#include "report/metrics_log.h"
#include "report/samples_file.h"
#include "report/svg_heat_map.h"

namespace dragoman::report {

/// One row of a table of facts: "parameters", "3,452,160".
struct ReportFact {
  std::string name, value;
};

struct ReportFactGroup {
  std::string title;  ///< "Model", "Data", "Machine", ...
  std::vector<ReportFact> facts;
};

/// A figure for the report. `svg` is inserted into the page unescaped, so it must not contain text of users.
struct ReportFigure {
  std::string title, caption;
  std::string svg;
};

/// The data of the report. Each part may be empty.
struct ReportData {
  std::string title = "Training report";
  std::string subtitle;               ///< "tiny, English to German"
  std::string status;                 ///< "training", "finished", "stopped early", ...
  std::string updated;                ///< date and time as text
  std::vector<std::string> warnings;  ///< "the model is large for the data: ..."
  std::vector<ReportFactGroup> facts;
  MetricsHistory metrics;
  std::vector<SampleSet> samples;  ///< in the order of the validations
  std::vector<ReportFigure> figures;
  std::vector<HeatMap> attention;
};

}  // namespace dragoman::report
