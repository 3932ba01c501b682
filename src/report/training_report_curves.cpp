#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html.h"
#include "report/page_texts.h"
#include "report/progress_line.h"
#include "report/svg_chart.h"
#include "report/training_report_parts.h"

namespace dragoman::report::report_parts {
namespace {

constexpr double kLossSmoothing = 0.9;      // weight of the past in the train loss curve
constexpr size_t kSmoothFrom = 30;          // shorter curves are shown as they are
constexpr double kPerplexityCeiling = 1e3;  // an untrained model's perplexity would flatten the rest

template <typename Row>
ChartSeries series(std::string name, const std::vector<Row>& rows, double Row::*value) {
  ChartSeries result;
  result.name = std::move(name);
  for (const Row& row : rows) {
    result.x.push_back(static_cast<double>(row.step));
    result.y.push_back(row.*value);
  }
  return result;
}

bool has_values(const ChartSeries& series) {
  return std::any_of(series.y.begin(), series.y.end(), [](double y) { return std::isfinite(y); });
}

Chart loss_chart(const MetricsHistory& metrics) {
  Chart chart;
  chart.title = "Loss, nats per target token";
  chart.series.push_back(series("training", metrics.train, &TrainRow::loss));
  ChartSeries validation = series("validation", metrics.validation, &ValidationRow::loss);
  if (metrics.train.size() >= kSmoothFrom) {
    chart.series[0].y = smoothed(chart.series[0].y, kLossSmoothing);
    chart.series[0].name = "training (smoothed)";
  }
  if (has_values(validation)) {
    chart.series.push_back(std::move(validation));
    chart.best = ChartBest::kLowest;
  }
  return chart;
}

Chart perplexity_chart(const MetricsHistory& metrics) {
  Chart chart;
  chart.title = "Validation perplexity";
  chart.best = ChartBest::kLowest;
  chart.series.push_back(series("perplexity", metrics.validation, &ValidationRow::perplexity));
  for (double& value : chart.series[0].y) {
    value = value > kPerplexityCeiling ? kNotMeasured : value;
  }
  return chart;
}

Chart quality_chart(const MetricsHistory& metrics) {
  Chart chart;
  ChartSeries accuracy = series("Accuracy", metrics.validation, &ValidationRow::accuracy);
  chart.title = has_values(accuracy) ? "Accuracy on validation" : "Translation quality on validation";
  chart.starts_at_zero = true;
  chart.best = ChartBest::kHighest;
  ChartSeries chrf = series("chrF", metrics.validation, &ValidationRow::chrf);
  ChartSeries bleu = series("BLEU", metrics.validation, &ValidationRow::bleu);
  if (has_values(accuracy)) {
    chart.series.push_back(std::move(accuracy));
    if (ChartSeries mrr = series("MRR", metrics.validation, &ValidationRow::mrr); has_values(mrr)) {
      chart.series.push_back(std::move(mrr));
    }
    return chart;
  }
  if (has_values(chrf)) {
    chart.series.push_back(std::move(chrf));
  }
  chart.series.push_back(std::move(bleu));
  return chart;
}

Chart train_chart(std::string title, const MetricsHistory& metrics, double TrainRow::*value) {
  Chart chart;
  chart.title = std::move(title);
  chart.starts_at_zero = true;
  chart.series.push_back(series(chart.title, metrics.train, value));
  return chart;
}

// `detail` is HTML.
std::string tile(std::string_view name, const std::string& value, const std::string& detail) {
  return fmt::format(R"(<div><dt>{}</dt><dd>{}<span class="detail">{}</span></dd></div>)", said(name),
                     escape_html(value), detail);
}

enum class Best { kHighest, kLowest };

// The best validation by `value`, or null.
const ValidationRow* best_row(const std::vector<ValidationRow>& rows, double ValidationRow::*value, Best which) {
  const ValidationRow* best = nullptr;
  for (const ValidationRow& row : rows) {
    const bool is_first = best == nullptr && std::isfinite(row.*value);
    if (is_first ||
        (best != nullptr && (which == Best::kLowest ? row.*value < best->*value : row.*value > best->*value))) {
      best = &row;
    }
  }
  return best;
}

std::string best_tile(const MetricsHistory& metrics, std::string_view name, double ValidationRow::*value, Best which) {
  const ValidationRow* best = best_row(metrics.validation, value, which);
  return best == nullptr
             ? ""
             : tile(name, fmt::format("{:.2f}", best->*value), said("at step {0}", {format_count(best->step)}));
}

// The middle one of the measured speeds: robust against the slow first steps.
double median_speed(const std::vector<TrainRow>& rows) {
  std::vector<double> speeds;
  for (const TrainRow& row : rows) {
    if (std::isfinite(row.tokens_per_second)) {
      speeds.push_back(row.tokens_per_second);
    }
  }
  if (speeds.empty()) {
    return kNotMeasured;
  }
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  return *middle;
}

}  // namespace

std::string chart_figure(Chart chart) {
  std::string html = "<figure><figcaption><span>" + said(chart.title) + "</span>";
  const std::vector<size_t> colours = colours_of(chart);
  size_t keys = 0;
  for (size_t i = 0; i < chart.series.size() && chart.series.size() > 1; ++i) {
    if (colours[i] == keys) {  // the first of its name
      html += fmt::format(R"(<span class="key series-{}">{}</span>)", keys++, said(chart.series[i].name));
    }
  }
  html += "</figcaption><div class=\"en\">" + line_chart(chart) + "</div>";
  chart.language = PageLanguage::kChinese;
  return html + "<div class=\"zh\">" + line_chart(chart) + "</div></figure>\n";
}

std::string headline(const MetricsHistory& metrics) {
  std::string tiles = best_tile(metrics, "Best BLEU", &ValidationRow::bleu, Best::kHighest) +
                      best_tile(metrics, "Best chrF", &ValidationRow::chrf, Best::kHighest) +
                      best_tile(metrics, "Best accuracy", &ValidationRow::accuracy, Best::kHighest) +
                      best_tile(metrics, "Lowest perplexity", &ValidationRow::perplexity, Best::kLowest);
  if (!metrics.train.empty()) {
    const TrainRow& last = metrics.train.back();
    tiles += tile("Updates", format_count(last.step), said("{0} epochs", {fmt::format("{:.1f}", last.epoch)}));
    tiles += tile("Training time", format_duration(last.seconds), "");
    const double speed = median_speed(metrics.train);
    if (std::isfinite(speed)) {
      tiles += tile("Target tokens a second", format_count(std::llround(speed)), said("median"));
    }
  }
  return tiles.empty() ? "" : "<dl class=\"headline\">" + tiles + "</dl>\n";
}

std::string curves(const MetricsHistory& metrics) {
  std::string html = "<section><h2>" + said("Curves") + "</h2>\n<div class=\"grid-of-charts\">\n";
  html += chart_figure(loss_chart(metrics));
  html += chart_figure(quality_chart(metrics));
  html += chart_figure(perplexity_chart(metrics));
  html += chart_figure(train_chart("Learning rate", metrics, &TrainRow::learning_rate));
  html += chart_figure(train_chart("Target tokens a second", metrics, &TrainRow::tokens_per_second));
  html += chart_figure(train_chart("Gradient norm before clipping", metrics, &TrainRow::grad_norm));
  const Chart divergence = train_chart("Divergence of the two passes, nats per target token", metrics, &TrainRow::kl);
  if (has_values(divergence.series[0])) {
    html += chart_figure(divergence);
  }
  return html + "</div></section>\n";
}

}  // namespace dragoman::report::report_parts
