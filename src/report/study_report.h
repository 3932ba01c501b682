#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/svg_chart.h"

namespace dragoman::report {

/// A text of the table of page_texts.h, with the values for its {0}, {1}, ....
struct SaidText {
  std::string english;
  std::vector<std::string> values;
};

/// A table. A cell is either a value, as English without values, or a text of page_texts.h.
struct StudyTable {
  SaidText caption;
  std::vector<SaidText> columns;
  std::vector<std::vector<SaidText>> rows;
  SaidText note;  ///< below the table, e.g. a signature; may be empty
};

/// The report of several trainings that are compared.
struct StudyReport {
  std::string title, about;
  SaidText status;
  std::vector<SaidText> conclusions;  ///< what a reader should conclude, a sentence for each comparison
  std::vector<SaidText> notes;        ///< how the comparison is made
  std::vector<StudyTable> tables;
  SaidText chart_note;  ///< what the curves are
  std::vector<Chart> charts;
  std::vector<StudyTable> facts;
};

/// Returns the report as one self-contained HTML page in two languages, in the manner of render_report.
std::string render_study(const StudyReport& report);

/// Returns the report as Markdown, in English. Charts are left out.
std::string study_markdown(const StudyReport& report);

}  // namespace dragoman::report
