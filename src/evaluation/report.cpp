#include "evaluation/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dragoman::evaluation {
namespace {

using Json = nlohmann::ordered_json;  // keeps sacreBLEU's order of keys

constexpr double kSignificanceLevel = 0.05;

std::string fixed(double value, int width) {
  return fmt::format("{:.{}f}", value, width);
}

std::string confidence_text(const Interval& interval, int width) {
  return "μ = " + fixed(interval.mean, width) + " ± " + fixed(interval.half_width, width);
}

// A text of mean 0 gets no interval, as in sacreBLEU.
bool shows_interval(const MetricScore& score) {
  return score.interval.has_value() && score.interval->mean > 0.0;
}

size_t width_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string repeat(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

std::string pad(std::string_view text, size_t left, size_t right) {
  return std::string(left, ' ') + std::string(text) + std::string(right, ' ');
}

enum class Align { kRight, kCenter };

std::string align(std::string_view text, size_t width, Align alignment) {
  const size_t space = width - width_of(text);
  const size_t left = alignment == Align::kRight ? space : space / 2;
  return pad(text, left, space - left);
}

using Row = std::vector<std::string>;

// Lines of a table: rows[0] is the heading; each further entry may be several text lines of one table row.
class Table {
 public:
  explicit Table(Row heading) : rows_{{std::move(heading)}} {}

  void add(std::vector<Row> lines) { rows_.push_back(std::move(lines)); }

  std::string text() const {
    std::vector<size_t> widths;
    for (size_t c = 0; c < rows_[0][0].size(); ++c) {
      widths.push_back(column_width(c));
    }
    std::string text = rule(widths, {"╒", "═", "╤", "╕"});
    for (size_t r = 0; r < rows_.size(); ++r) {
      if (r > 0) {
        text += r == 1 ? rule(widths, {"╞", "═", "╪", "╡"}) : rule(widths, {"├", "─", "┼", "┤"});
      }
      for (const Row& line : rows_[r]) {
        text += cells(line, widths);
      }
    }
    return text + rule(widths, {"╘", "═", "╧", "╛"});
  }

 private:
  struct Rule {
    std::string_view left, line, cross, right;
  };

  size_t column_width(size_t column) const {
    size_t width = width_of(rows_[0][0][column]) + 2;
    for (const std::vector<Row>& lines : rows_) {
      for (const Row& line : lines) {
        width = std::max(width, width_of(line[column]));
      }
    }
    return width;
  }

  static std::string rule(const std::vector<size_t>& widths, const Rule& style) {
    std::string text(style.left);
    for (size_t c = 0; c < widths.size(); ++c) {
      text += repeat(style.line, widths[c] + 2);
      text += c + 1 < widths.size() ? style.cross : style.right;
    }
    return text + "\n";
  }

  static std::string cells(const Row& line, const std::vector<size_t>& widths) {
    std::string text = "│";
    for (size_t c = 0; c < widths.size(); ++c) {
      text += " " + align(line[c], widths[c], c == 0 ? Align::kRight : Align::kCenter) + " │";
    }
    return text + "\n";
  }

  std::vector<std::vector<Row>> rows_;
};

std::string system_label(const Report& report, size_t index) {
  return (index == 0 ? "Baseline: " : "") + report.systems[index].name;
}

// One row: names and scores; below them, except for the baseline, the p-values.
std::vector<Row> system_rows(const Report& report, size_t index) {
  Row scores{system_label(report, index)};
  Row p_values{""};
  for (const ComparedScore& compared : report.systems[index].scores) {
    scores.push_back(fmt::format("{} ({} ± {})", fixed(compared.score, report.width),
                                 fixed(compared.interval.mean, report.width),
                                 fixed(compared.interval.half_width, report.width)));
    if (compared.p_value.has_value()) {
      p_values.push_back(
          fmt::format("(p = {:.4f}){}", *compared.p_value, *compared.p_value > kSignificanceLevel ? "" : "*"));
    }
  }
  return index == 0 ? std::vector<Row>{scores} : std::vector<Row>{scores, p_values};
}

std::string comparison_text(const Report& report) {
  Row heading{"System"};
  for (const MetricScore& score : report.scores) {
    heading.push_back(score.name + " (μ ± 95% CI)");
  }
  Table table(heading);
  for (size_t s = 0; s < report.systems.size(); ++s) {
    table.add(system_rows(report, s));
  }
  std::string text = table.text();
  text += fmt::format(
      "\nPaired bootstrap with {} resamples: score (mean ± half of the 95 % interval), and the probability p that a\n"
      "difference from the baseline as large as this one is chance. * marks p <= {}: the systems differ.\n\n"
      "Metric signatures\n",
      report.resampling.resamples, kSignificanceLevel);
  for (const MetricScore& score : report.scores) {
    text += fmt::format(" - {:<10} {}\n", score.name, score.signature.text());
  }
  return text;
}

// The lines moved right so that their "=" stand in one column.
std::string aligned_lines(const Report& report) {
  std::vector<std::string> lines;
  size_t widest = 0;
  for (const MetricScore& score : report.scores) {
    lines.push_back(score_line(score, report.width));
    widest = std::max(widest, lines.back().find('='));
  }
  std::string text;
  for (const std::string& line : lines) {
    text += std::string(widest - line.find('='), ' ') + line + "\n";
  }
  return text;
}

Json score_json(const MetricScore& score, int width) {
  Json json;
  json["name"] = score.name;
  json["score"] = std::stod(fixed(score.score, width));
  json["signature"] = score.signature.text();
  if (shows_interval(score)) {
    json["confidence_mean"] = std::stod(fixed(score.interval->mean, width));
    json["confidence_var"] = std::stod(fixed(score.interval->half_width, width));
    json["confidence"] = confidence_text(*score.interval, width);
  }
  if (!score.details.empty()) {
    json["verbose_score"] = score.details;
  }
  for (const auto& [key, value] : score.signature.entries) {
    json[key] = value;
  }
  return json;
}

Json comparison_json(const Report& report) {
  Json systems = Json::array();
  for (size_t s = 0; s < report.systems.size(); ++s) {
    Json system;
    system["system"] = system_label(report, s);
    for (size_t m = 0; m < report.scores.size(); ++m) {
      const ComparedScore& compared = report.systems[s].scores[m];
      Json& json = system[report.scores[m].name];
      json["score"] = compared.score;
      json["p_value"] = compared.p_value.has_value() ? Json(*compared.p_value) : Json();
      json["mean"] = compared.interval.mean;
      json["ci"] = compared.interval.half_width;
    }
    systems.push_back(std::move(system));
  }
  return systems;
}

// File names may hold any bytes: ill-formed ones become U+FFFD instead of an exception.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string score_line(const MetricScore& score, int width) {
  std::string line = score.name + "|" + score.signature.text() + " = " + fixed(score.score, width);
  if (shows_interval(score)) {
    line += " (" + confidence_text(*score.interval, width) + ")";
  }
  return score.details.empty() ? line : line + " " + score.details;
}

std::string render_text(const Report& report) {
  return report.systems.empty() ? aligned_lines(report) : comparison_text(report);
}

std::string render_json(const Report& report) {
  if (!report.systems.empty()) {
    return dump(comparison_json(report), 4) + "\n";
  }
  std::string text;
  if (report.sentence_level) {
    for (const MetricScore& score : report.scores) {
      text += dump(score_json(score, report.width), -1) + "\n";
    }
    return text;
  }
  for (const MetricScore& score : report.scores) {
    text += (text.empty() ? "" : ",\n") + dump(score_json(score, report.width), 1);
  }
  return report.scores.size() == 1 ? text + "\n" : "[\n" + text + "\n]\n";
}

}  // namespace dragoman::evaluation
