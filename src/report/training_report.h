#pragma once

#include <filesystem>
#include <string>

#include "report/training_report_data.h"

namespace dragoman::report {

/// The report as one self-contained HTML page: no script, no outside resource, well-formed as XML after the doctype.
/// All text is escaped. Light and dark follow the reader's system; narrow windows get one column.
/// Throws Error(kRuntime) as heat_map does.
std::string render_report(const ReportData& data);

/// Writes render_report(data) atomically. Throws Error(kCannotWrite).
void write_report(const std::filesystem::path& path, const ReportData& data);

}  // namespace dragoman::report
