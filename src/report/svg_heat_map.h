#pragma once

#include <string>
#include <vector>

namespace dragoman::report {

/// The data of a heat map.
struct HeatMap {
  std::string title;
  std::string row_axis, column_axis;  ///< names of the axes: "target", "source"
  std::vector<std::string> row_labels, column_labels;
  std::vector<float> weights;  ///< row-major, [rows, columns], shown from 0 (empty) to 1 (full colour)
};

/// Returns the heat map as one inline <svg> element with a <title> tooltip on each cell. Its words are in the two
/// languages of page_texts.h. The drawing does not become so narrow that its text could not be read. A weight that is
/// not finite has the second colour. Throws: Error(kRuntime) if the sizes are inconsistent, "heat map 'cross': 12
/// weights, but 3 row labels x 5 column labels; give one weight a cell".
std::string heat_map(const HeatMap& map);

}  // namespace dragoman::report
