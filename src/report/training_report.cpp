#include "report/training_report.h"

#include <fmt/format.h>

#include "base/files.h"
#include "report/html.h"
#include "report/page_texts.h"
#include "report/progress_line.h"
#include "report/svg_heat_map.h"
#include "report/training_report_parts.h"

namespace dragoman::report {

namespace report_parts {

std::string figures(const std::vector<ReportFigure>& figures) {
  std::string html;
  for (const ReportFigure& figure : figures) {
    html += "<section><h2>" + escape_html(figure.title) + "</h2>\n<figure>" + figure.svg;
    html += figure.caption.empty() ? "" : "<p class=\"more\">" + escape_html(figure.caption) + "</p>";
    html += "</figure></section>\n";
  }
  return html;
}

std::string attention_maps(const std::vector<HeatMap>& maps) {
  if (maps.empty()) {
    return "";
  }
  std::string html = "<section><h2>" + said("Attention") + "</h2>\n<p class=\"note\">" +
                     said(
                         "Each row is a position that looks; the fuller the colour of a cell, the more it takes from "
                         "the position of that column. Each row adds up to 1.") +
                     "</p>\n<div class=\"grid-of-charts\">\n";
  for (const HeatMap& map : maps) {
    html += "<figure><figcaption>" + said(map.title) + "</figcaption><div class=\"scroll\" tabindex=\"0\">" +
            heat_map(map) + "</div></figure>\n";
  }
  return html + "</div></section>\n";
}

std::string facts(const std::vector<ReportFactGroup>& groups) {
  std::string tables;
  for (const ReportFactGroup& group : groups) {
    tables += "<table><caption>" + said(group.title) + "</caption><tbody>";
    for (const ReportFact& fact : group.facts) {
      tables += R"(<tr><th scope="row">)" + said(fact.name) + "</th><td>" + escape_html(fact.value) + "</td></tr>";
    }
    tables += "</tbody></table>\n";
  }
  return tables.empty()
             ? ""
             : "<section><h2>" + said("The run") + "</h2>\n<div class=\"facts\">\n" + tables + "</div></section>\n";
}

std::string events(const MetricsHistory& metrics) {
  if (metrics.events.empty()) {
    return "";
  }
  std::string html = "<section><h2>" + said("What happened") + "</h2>\n<table class=\"events\" lang=\"en\"><tbody>";
  for (const EventRow& event : metrics.events) {
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>", said("step {0}", {format_count(event.step)}),
                        escape_html(event.text.empty() ? event.name : event.text));
  }
  return html + "</tbody></table></section>\n";
}

std::string page_head(std::string_view title, std::string_view more_style) {
  // The policy makes "no outside resource" a rule that the browser keeps.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
      "<title>{}</title>\n<style>{}{}{}</style>\n</head>\n",
      escape_html(title), style_sheet(), language_style(), more_style);
}

}  // namespace report_parts

namespace {

std::string opening(const ReportData& data) {
  std::string html = "<header><h1>" + said(data.title) + "</h1>\n<p class=\"subtitle\">";
  html += data.status.empty() ? "" : "<span class=\"status\">" + said(data.status) + "</span>";
  html += escape_html(data.subtitle) + "</p>\n";
  for (const std::string& warning : data.warnings) {
    html += "<p class=\"warning\" role=\"note\" lang=\"en\">" + escape_html(warning) + "</p>\n";
  }
  return html + "</header>\n";
}

std::string closing(const ReportData& data) {
  const std::string when = data.updated.empty() ? "" : ", " + escape_html(data.updated);
  return "<footer>" + said("Written by dragoman") + when + "</footer>\n";
}

}  // namespace

std::string render_report(const ReportData& data) {
  return report_parts::page_head(data.title) + "<body>\n" + std::string(language_switch()) + "<main>\n" +
         opening(data) + report_parts::headline(data.metrics) + report_parts::curves(data.metrics) +
         report_parts::samples(data.samples) + report_parts::figures(data.figures) +
         report_parts::attention_maps(data.attention) + report_parts::facts(data.facts) +
         report_parts::events(data.metrics) + closing(data) + "</main>\n</body>\n</html>\n";
}

void write_report(const std::filesystem::path& path, const ReportData& data) {
  base::write_file_atomic(path, render_report(data));
}

}  // namespace dragoman::report
