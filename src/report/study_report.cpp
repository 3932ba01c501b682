#include "report/study_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"
#include "report/training_report_parts.h"

namespace dragoman::report {
namespace {

std::string said(const SaidText& text) {
  return report::said(text.english, text.values);
}

std::string english(const SaidText& text) {
  return text_in(PageLanguage::kEnglish, text.english, text.values);
}

// Long texts wrap, so that columns of numbers stay on the screen.
std::string cell_html(std::string_view tag, std::string_view scope, const SaidText& text) {
  constexpr size_t kLong = 32;
  const std::string of_scope = scope.empty() ? "" : fmt::format(R"( scope="{}")", scope);
  return fmt::format("<{}{}{}>{}</{}>", tag, of_scope, text.english.size() > kLong ? R"( class="words")" : "",
                     said(text), tag);
}

std::string table(const StudyTable& table) {
  std::string html = "<figure><figcaption>" + said(table.caption) +
                     "</figcaption><div class=\"scroll\" tabindex=\"0\"><table class=\"study\"><thead><tr>";
  for (const SaidText& column : table.columns) {
    html += cell_html("th", "col", column);
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<SaidText>& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      html += i == 0 ? cell_html("th", "row", row[i]) : cell_html("td", "", row[i]);
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>";
  html += table.note.english.empty() ? "" : "<p class=\"more\">" + said(table.note) + "</p>";
  return html + "</figure>\n";
}

std::string tables(std::string_view title, const std::vector<StudyTable>& all) {
  std::string html;
  for (const StudyTable& each : all) {
    html += table(each);
  }
  return html.empty() ? "" : "<section><h2>" + report::said(title) + "</h2>\n" + html + "</section>\n";
}

std::string conclusions(const StudyReport& report) {
  std::string html = "<section><h2>" + report::said("What to conclude") + "</h2>\n<ul>\n";
  for (const SaidText& sentence : report.conclusions) {
    html += "<li>" + said(sentence) + "</li>\n";
  }
  html += "</ul>\n";
  for (const SaidText& note : report.notes) {
    html += "<p class=\"note\">" + said(note) + "</p>\n";
  }
  return html + "</section>\n";
}

std::string charts(const StudyReport& report) {
  std::string html;
  for (const Chart& chart : report.charts) {
    html += report_parts::chart_figure(chart);
  }
  return html.empty()
             ? ""
             : "<section><h2>" + report::said("Curves") + "</h2>\n<p class=\"note\">" + said(report.chart_note) +
                   "</p>\n<div class=\"grid-of-charts\">\n" + html + "</div></section>\n";
}

// Bars would end a cell.
std::string cell(const SaidText& text) {
  std::string escaped;
  for (const char c : english(text)) {
    escaped += c == '|' ? "\\|" : std::string(1, c == '\n' ? ' ' : c);
  }
  return escaped;
}

std::string row(const std::vector<SaidText>& cells) {
  std::string line = "|";
  for (const SaidText& each : cells) {
    line += " " + cell(each) + " |";
  }
  return line + "\n";
}

std::string markdown(const StudyTable& table) {
  std::string text = "\n" + english(table.caption) + "\n\n" + row(table.columns) + "|";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    text += "---|";
  }
  text += "\n";
  for (const std::vector<SaidText>& each : table.rows) {
    text += row(each);
  }
  return text + (table.note.english.empty() ? "" : "\n" + english(table.note) + "\n");
}

// The paper's tables have narrow rows of numbers.
constexpr std::string_view kTableStyle = R"css(
table.study { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums lining-nums; }
table.study th, table.study td { padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left;
  white-space: nowrap; font-weight: 400; }
table.study .words { white-space: normal; min-width: 12rem; }
table.study thead th { color: var(--soft); }
section > figure { margin: 0 0 1.25rem; }
)css";

}  // namespace

std::string render_study(const StudyReport& report) {
  return report_parts::page_head(report.title, kTableStyle) + "<body>\n" + std::string(language_switch()) +
         "<main>\n<header><h1>" + escape_html(report.title) + "</h1>\n<p class=\"subtitle\"><span class=\"status\">" +
         said(report.status) + "</span>" + escape_html(report.about) + "</p>\n</header>\n" + conclusions(report) +
         tables("Scores", report.tables) + charts(report) + tables("The study", report.facts) + "<footer>" +
         report::said("Written by dragoman") + "</footer>\n</main>\n</body>\n</html>\n";
}

std::string study_markdown(const StudyReport& report) {
  std::string text = "# " + report.title + "\n\n" + (report.about.empty() ? "" : report.about + "\n\n") +
                     english(report.status) + "\n\n## What to conclude\n\n";
  for (const SaidText& sentence : report.conclusions) {
    text += "- " + english(sentence) + "\n";
  }
  for (const SaidText& note : report.notes) {
    text += "\n" + english(note) + "\n";
  }
  text += "\n## Scores\n";
  for (const StudyTable& each : report.tables) {
    text += markdown(each);
  }
  if (!report.facts.empty()) {
    text += "\n## The study\n";
  }
  for (const StudyTable& each : report.facts) {
    text += markdown(each);
  }
  return text;
}

}  // namespace dragoman::report
