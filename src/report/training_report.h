#pragma once

#include <filesystem>
#include <string>

#include "report/training_report_data.h"

namespace dragoman::report {

/// Returns the report as one self-contained HTML page without scripts and external resources. After the doctype the
/// page is well-formed XML. All text is escaped. The page follows the light or dark mode of the system, and narrow
/// windows have one column. Throws: Error(kRuntime) as heat_map.
std::string render_report(const ReportData& data);

/// Writes render_report(data) to `path` atomically. Throws: Error(kCannotWrite).
void write_report(const std::filesystem::path& path, const ReportData& data);

}  // namespace dragoman::report
