#pragma once

#include <string>
#include <string_view>

#include "report/svg_chart.h"
#include "report/svg_heat_map.h"
#include "report/training_report_data.h"

/// The parts that render_report puts together; each returns "" when it has nothing to show.
namespace dragoman::report::report_parts {

/// Returns the style sheet. The colours are custom properties for the light and the dark mode. The contrast of text is
/// at least 4.5 : 1 in both. Source: Web Content Accessibility Guidelines 2.2, criterion 1.4.3.
std::string_view style_sheet();

/// Returns the page up to its body. @param more_style  rules behind the style sheet
std::string page_head(std::string_view title, std::string_view more_style = "");

/// Returns a chart with its caption and the key of its series, drawn once for each language, of which the page shows
/// one.
std::string chart_figure(Chart chart);

/// Returns a row with the most important numbers: best BLEU and chrF, perplexity, step, speed.
std::string headline(const MetricsHistory& metrics);

/// Returns charts of loss, perplexity, BLEU and chrF, learning rate, tokens per second and gradient norm over steps.
std::string curves(const MetricsHistory& metrics);

/// Returns each sentence with its newest translation. Earlier translations are collapsed, newest first.
std::string samples(const std::vector<SampleSet>& sets);

std::string figures(const std::vector<ReportFigure>& figures);
std::string attention_maps(const std::vector<HeatMap>& maps);
std::string facts(const std::vector<ReportFactGroup>& groups);

/// Returns the list of events: start, resumes, early stop, and all other logged events.
std::string events(const MetricsHistory& metrics);

}  // namespace dragoman::report::report_parts
