#include "report/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "report/html.h"
#include "report/progress_line.h"

namespace dragoman::report {
namespace {

// The drawing's own units; the page scales it to its column.
constexpr double kWidth = 560, kHeight = 260;
constexpr double kLeft = 52, kRight = 60, kTop = 14, kBottom = 40;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr size_t kMaxLinePoints = 400, kMaxDots = 60;
constexpr double kSmallFrom = 0.01;  // smaller numbers are written with an exponent
constexpr double kLabelGap = 13;     // between the end labels of two series

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
};

struct Point {
  double x, y;
};

// A run of points without gaps.
using Stretch = std::vector<Point>;

std::vector<Stretch> stretches_of(const ChartSeries& series) {
  std::vector<Stretch> stretches(1);
  for (size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    if (std::isfinite(series.x[i]) && std::isfinite(series.y[i])) {
      stretches.back().push_back({series.x[i], series.y[i]});
    } else if (!stretches.back().empty()) {
      stretches.emplace_back();
    }
  }
  std::erase_if(stretches, [](const Stretch& stretch) { return stretch.empty(); });
  return stretches;
}

// Every k-th point and the last, so that at most about `limit` remain.
Stretch thinned(const Stretch& points, size_t limit) {
  const size_t every = (points.size() + limit - 1) / limit;
  Stretch kept;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i % every == 0 || i + 1 == points.size()) {
      kept.push_back(points[i]);
    }
  }
  return kept;
}

std::optional<Point> last_point(const ChartSeries& series) {
  const auto stretches = stretches_of(series);
  return stretches.empty() ? std::nullopt : std::optional(stretches.back().back());
}

std::optional<Point> best_point(const ChartSeries& series, ChartBest kind) {
  std::optional<Point> best;
  for (const Stretch& stretch : stretches_of(series)) {
    for (const Point& point : stretch) {
      const bool is_better = !best || (kind == ChartBest::kLowest ? point.y < best->y : point.y > best->y);
      best = is_better ? point : *best;
    }
  }
  return best;
}

// Maps data to the drawing.
class Axes {
 public:
  explicit Axes(const Chart& chart) {
    for (const ChartSeries& series : chart.series) {
      for (const Stretch& stretch : stretches_of(series)) {
        for (const Point& point : stretch) {
          x_.include(point.x);
          y_.include(point.y);
        }
      }
    }
    if (chart.starts_at_zero && !is_empty()) {
      y_.include(0.0);
    }
    if (!is_empty()) {
      widen(x_, 0.0, 1.0);
      widen(y_, 0.05, y_.high == 0.0 ? 1.0 : std::abs(y_.high) * 0.1);
    }
  }
  bool is_empty() const { return x_.is_empty(); }
  const Range& x_range() const { return x_; }
  const Range& y_range() const { return y_; }
  double x(double value) const { return kLeft + (value - x_.low) / (x_.high - x_.low) * kPlotWidth; }
  double y(double value) const { return kTop + kPlotHeight - (value - y_.low) / (y_.high - y_.low) * kPlotHeight; }

 private:
  // Adds a margin (a fraction of the span; never across 0); a single value gets `alone` on both sides.
  static void widen(Range& range, double margin, double alone) {
    const bool is_positive = range.low >= 0.0;
    const double span = range.high - range.low;
    const double pad = span > 0.0 ? span * margin : alone;
    range.low = is_positive ? std::max(0.0, range.low - pad) : range.low - pad;
    range.high += pad;
  }

  Range x_, y_;
};

void draw_axes(const Chart& chart, const Axes& axes, std::string& svg) {
  for (const double tick : nice_ticks(axes.y_range().low, axes.y_range().high, 5)) {
    const double y = axes.y(tick);
    svg += fmt::format(R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", kLeft,
                       kLeft + kPlotWidth, y, y);
    svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", kLeft - 8, y + 4,
                       format_tick(tick));
  }
  const double base_line = kTop + kPlotHeight;
  svg += fmt::format(R"(<line class="axis" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", kLeft,
                     kLeft + kPlotWidth, base_line, base_line);
  for (const double tick : nice_ticks(axes.x_range().low, axes.x_range().high, 6)) {
    if (tick != std::floor(tick)) {
      continue;  // steps are whole numbers
    }
    svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", axes.x(tick),
                       base_line + 17, format_tick(tick));
  }
  svg += fmt::format(R"(<text class="axis-name" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", kLeft + kPlotWidth,
                     base_line + 33, escape_html(text_in(chart.language, chart.x_label)));
}

void draw_line(const Stretch& points, const Axes& axes, const std::string& css_class, std::string& svg) {
  svg += fmt::format(R"(<polyline class="line {}" points=")", css_class);
  for (const Point& point : thinned(points, kMaxLinePoints)) {
    svg += fmt::format("{:.1f},{:.1f} ", axes.x(point.x), axes.y(point.y));
  }
  svg += R"("/>)";
}

// The pattern with the name of the series, the value, the name of the x axis and the place on it.
std::string place_text(const Chart& chart, std::string_view pattern, const ChartSeries& series, const Point& point) {
  const auto word = [&](const std::string& name) { return std::string(text_in(chart.language, name)); };
  const std::string name =
      series.seed.empty() ? word(series.name) : text_in(chart.language, "{0}, seed {1}", {series.name, series.seed});
  return text_in(chart.language, pattern, {name, format_value(point.y), word(chart.x_label), format_value(point.x)});
}

void draw_dots(const Stretch& points, const Axes& axes, const Chart& chart, const ChartSeries& series,
               std::string& svg) {
  for (const Point& point : thinned(points, kMaxDots)) {
    svg +=
        fmt::format(R"(<circle class="hit" cx="{:.1f}" cy="{:.1f}" r="7"><title>{}</title></circle>)", axes.x(point.x),
                    axes.y(point.y), escape_html(place_text(chart, "{0}: {1} at {2} {3}", series, point)));
  }
}

void draw_series(const Chart& chart, const ChartSeries& series, size_t colour, const Axes& axes, std::string& svg) {
  const bool has_repetitions = std::ranges::count(chart.series, series.name, &ChartSeries::name) > 1;
  const std::string css_class = fmt::format("series-{}", colour);
  svg += fmt::format(R"(<g class="{}">)", css_class);
  for (const Stretch& stretch : stretches_of(series)) {
    if (stretch.size() > 1) {
      draw_line(stretch, axes, has_repetitions ? "thin " + css_class : css_class, svg);
    } else {
      svg += fmt::format(R"(<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.5"/>)", axes.x(stretch[0].x),
                         axes.y(stretch[0].y));
    }
    draw_dots(stretch, axes, chart, series, svg);
  }
  svg += "</g>";
}

// The last value of the series of a colour, their mean if they are several; nothing if none has a value.
std::optional<double> last_value(const Chart& chart, const std::vector<size_t>& colours, size_t colour) {
  double sum = 0.0;
  size_t count = 0;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const auto point = colours[i] == colour ? last_point(chart.series[i]) : std::nullopt;
    sum += point ? point->y : 0.0;
    count += point ? 1 : 0;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

// The last values at their heights right of the plot, moved apart where two would overlap.
void draw_end_labels(const Chart& chart, const Axes& axes, std::string& svg) {
  struct Label {
    double y;
    size_t colour;
    double value;
  };
  std::vector<Label> labels;
  const std::vector<size_t> colours = colours_of(chart);
  for (const size_t colour : std::set<size_t>(colours.begin(), colours.end())) {
    if (const auto value = last_value(chart, colours, colour); value.has_value()) {
      labels.push_back({axes.y(*value), colour, *value});
    }
  }
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  for (size_t i = 1; i < labels.size(); ++i) {
    labels[i].y = std::max(labels[i].y, labels[i - 1].y + kLabelGap);
  }
  const double overhang = labels.empty() ? 0.0 : std::max(0.0, labels.back().y - (kTop + kPlotHeight));
  for (const Label& label : labels) {
    svg += fmt::format(R"(<text class="end series-{}" x="{:.1f}" y="{:.1f}">{}</text>)", label.colour,
                       kLeft + kPlotWidth + 7, label.y - overhang + 4, format_value(label.value));
  }
}

void draw_best(const Chart& chart, const Axes& axes, std::string& svg) {
  const auto best = chart.best == ChartBest::kNone || chart.series.empty()
                        ? std::nullopt
                        : best_point(chart.series.back(), chart.best);
  if (!best) {
    return;
  }
  svg += fmt::format(R"(<circle class="best series-{}" cx="{:.1f}" cy="{:.1f}" r="4.5"><title>{}</title></circle>)",
                     colours_of(chart).back(), axes.x(best->x), axes.y(best->y),
                     escape_html(place_text(chart, "best {0}: {1} at {2} {3}", chart.series.back(), *best)));
}

// What the drawing says, in words.
std::string description(const Chart& chart, bool is_empty) {
  std::string text = text_in(chart.language, "Line chart: {0}", {std::string(text_in(chart.language, chart.title))});
  for (const ChartSeries& series : chart.series) {
    const auto last = last_point(series);
    if (last) {
      text += place_text(chart, "; {0} ends at {1} ({2} {3})", series, *last);
    }
  }
  return is_empty ? text + "; " + std::string(text_in(chart.language, "no values yet")) : text;
}

// 0.0005 -> "5e-4": shorter than printf's "5e-04".
std::string with_exponent(double value, int digits) {
  const double exponent = std::floor(std::log10(std::abs(value)) + 1e-9);
  return fmt::format("{:.{}g}e{}", value / std::pow(10.0, exponent), digits, static_cast<int>(exponent));
}

// 1, 2, 5 or 10: the nearest to `factor` (1 to 10) by ratio.
double round_step(double factor) {
  if (factor < std::sqrt(1.0 * 2.0)) {
    return 1.0;
  }
  if (factor < std::sqrt(2.0 * 5.0)) {
    return 2.0;
  }
  return factor < std::sqrt(5.0 * 10.0) ? 5.0 : 10.0;
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int target) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    return {};
  }
  const double rough = (high - low) / std::max(target, 1);
  if (!(rough > std::max(std::abs(low), std::abs(high)) * 1e-12) || !std::isfinite(rough)) {
    return {low};
  }
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double spacing = round_step(rough / power) * power;
  std::vector<double> ticks;
  // The slack keeps an end that is a tick itself, against rounding.
  const double slack = 1e-9;
  for (double k = std::ceil(low / spacing - slack); k <= std::floor(high / spacing + slack); ++k) {
    ticks.push_back(k == 0.0 ? 0.0 : k * spacing);
  }
  return ticks;
}

std::string format_tick(double value) {
  const double size = std::abs(value);
  if (size >= 1e15) {
    return fmt::format("{:.3g}", value);
  }
  if (size >= 1e9) {
    return fmt::format("{:.6g}G", value / 1e9);
  }
  if (size >= 1e6) {
    return fmt::format("{:.6g}M", value / 1e6);
  }
  if (size >= 1e3) {
    return fmt::format("{:.6g}k", value / 1e3);
  }
  return size > 0.0 && size < kSmallFrom ? with_exponent(value, 3) : fmt::format("{:.6g}", value);
}

std::string format_value(double value) {
  if (!std::isfinite(value)) {
    return "n/a";
  }
  const double size = std::abs(value);
  if (size >= 1e4 && size < 1e15) {
    return format_count(std::llround(value));
  }
  return size > 0.0 && size < kSmallFrom ? with_exponent(value, 4) : fmt::format("{:.4g}", value);
}

std::vector<double> smoothed(const std::vector<double>& values, double weight) {
  std::vector<double> result;
  result.reserve(values.size());
  double sum = 0.0, weight_sum = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      result.push_back(value);
      continue;
    }
    sum = weight * sum + (1.0 - weight) * value;
    weight_sum = weight * weight_sum + (1.0 - weight);
    result.push_back(sum / weight_sum);
  }
  return result;
}

std::vector<size_t> colours_of(const Chart& chart) {
  std::vector<std::string> names;
  std::vector<size_t> colours;
  for (const ChartSeries& series : chart.series) {
    const auto found = std::ranges::find(names, series.name);
    colours.push_back(static_cast<size_t>(found - names.begin()));
    if (found == names.end()) {
      names.push_back(series.name);
    }
  }
  return colours;
}

std::string line_chart(const Chart& chart) {
  const Axes axes(chart);
  std::string svg = fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">)", kWidth,
                                kHeight, escape_html(description(chart, axes.is_empty())));
  if (axes.is_empty()) {
    svg += fmt::format(R"(<text class="empty" x="{}" y="{}" text-anchor="middle">{}</text>)", kWidth / 2, kHeight / 2,
                       text_in(chart.language, "no values yet"));
  } else {
    draw_axes(chart, axes, svg);
    const std::vector<size_t> colours = colours_of(chart);
    for (size_t i = 0; i < chart.series.size(); ++i) {
      draw_series(chart, chart.series[i], colours[i], axes, svg);
    }
    draw_end_labels(chart, axes, svg);
    draw_best(chart, axes, svg);
  }
  return svg + "</svg>";
}

}  // namespace dragoman::report
