#pragma once

#include <string>
#include <string_view>

#include "report/svg_heat_map.h"
#include "report/training_report_data.h"

/// The parts that render_report puts together; each returns "" when it has nothing to show.
namespace dragoman::report::report_parts {

/// The style sheet. Colours as custom properties, once for light and once for dark; text contrast >= 4.5 : 1 in both
/// (Web Content Accessibility Guidelines 2.2, criterion 1.4.3).
std::string_view style_sheet();

/// A row of the few numbers that matter most: best BLEU and chrF, perplexity, step, speed.
std::string headline(const MetricsHistory& metrics);

/// Loss, perplexity, BLEU and chrF, learning rate, tokens per second and gradient norm over steps.
std::string curves(const MetricsHistory& metrics);

/// Each sentence with its newest translation; the earlier ones, newest first, folded away.
std::string samples(const std::vector<SampleSet>& sets);

std::string figures(const std::vector<ReportFigure>& figures);
std::string attention_maps(const std::vector<HeatMap>& maps);
std::string facts(const std::vector<ReportFactGroup>& groups);

/// The run's diary: start, resumes, early stop, and what else was logged as an event.
std::string events(const MetricsHistory& metrics);

}  // namespace dragoman::report::report_parts
