// The picture of kernel_regression.cpp: one SVG file that needs nothing else.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dragoman/base/files.h"

struct Samples {
  std::vector<double> x, y;
};

struct Curve {
  double end;  // x runs from 0 to here
  std::vector<double> x, truth;
};

struct Fit {
  std::string name;
  std::vector<double> y;        // one for each query
  std::vector<double> weights;  // [queries, samples], row-major
  double error;                 // to the true function
};

class Drawing {
 public:
  Drawing(const Samples& samples, const Curve& curve) : samples_(samples), curve_(curve) {
    const auto [low, high] = std::ranges::minmax(samples.y);
    low_ = low - 0.2;
    high_ = high + 0.2;
  }

  void add(const Fit& fit) {
    left_ = kMargin + double(panels_++) * (kSide + kMargin);
    text(left_, kTop - 26, "name", fit.name);
    text(left_, kTop - 10, "note", fmt::format("error to the true function {:.3f}", fit.error));
    frame(kTop);
    line("truth", curve_.truth);
    for (size_t i = 0; i < samples_.x.size(); ++i) {
      svg_ +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>\n", x_of(samples_.x[i]), y_of(samples_.y[i]));
    }
    line("fit", fit.y);
    matrix(fit.weights);
  }

  std::string finish() const {
    const double width = kMargin + double(panels_) * (kSide + kMargin), height = kMatrixTop + kSide + 48;
    return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">
<title>Kernel regression: fits above, attention weights below</title>
<style>
  rect.paper {{ fill: #fbfaf7 }}  rect.frame {{ fill: none; stroke: #cfcabf }}
  text {{ fill: #1f2429; font: 13px system-ui, sans-serif }}  .name {{ font-weight: 600; font-size: 15px }}
  .note {{ fill: #5b636b }}  circle {{ fill: #1f2429; fill-opacity: 0.45 }}
  polyline {{ fill: none; stroke-linejoin: round }}
  .truth {{ stroke: #8b9299; stroke-width: 1.5; stroke-dasharray: 5 4 }}  .fit {{ stroke: #b3501e; stroke-width: 2.5 }}
  .cell {{ fill: #2a5d8f; shape-rendering: crispEdges }}
</style>
<rect class="paper" width="{0}" height="{1}"/>
<text class="note" x="{2}" y="28">Dots: noisy samples (keys and values). Dashed: the true function. Line: the fit.</text>
{3}</svg>
)",
                       width, height, kMargin, svg_);
  }

 private:
  static constexpr double kSide = 260, kMargin = 34, kTop = 96, kMatrixTop = kTop + kSide + 50;

  double x_of(double x) const { return left_ + kSide * x / curve_.end; }
  double y_of(double y) const { return kTop + kSide * (high_ - y) / (high_ - low_); }

  void text(double x, double y, const char* kind, const std::string& words) {
    svg_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y, words);
  }

  void frame(double top) {
    svg_ += fmt::format("<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"/>\n", left_, top,
                        kSide, kSide);
  }

  void line(const char* kind, const std::vector<double>& values) {
    svg_ += fmt::format("<polyline class=\"{}\" points=\"", kind);
    for (size_t q = 0; q < values.size(); ++q) {
      svg_ += fmt::format("{:.1f},{:.1f} ", x_of(curve_.x[q]), y_of(values[q]));
    }
    svg_ += "\"/>\n";
  }

  // One cell for each query (row, from the top) and sample (column); darker = more weight.
  void matrix(const std::vector<double>& weights) {
    const size_t columns = samples_.x.size();
    const double width = kSide / double(columns), height = kSide / double(curve_.x.size());
    const double most = std::ranges::max(weights);
    text(left_, kMatrixTop - 10, "note", fmt::format("attention weights, 0 to {:.2f}", most));
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] > 0.004 * most) {
        svg_ += fmt::format(
            "<rect class=\"cell\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
            "fill-opacity=\"{:.2f}\"/>\n",
            left_ + double(i % columns) * width, kMatrixTop + double(i / columns) * height, width, height,
            weights[i] / most);
      }
    }
    frame(kMatrixTop);
    text(left_, kMatrixTop + kSide + 20, "note", "rows: queries, columns: samples, both by x");
  }

  const Samples& samples_;
  const Curve& curve_;
  double low_ = 0.0, high_ = 1.0, left_ = 0.0;
  size_t panels_ = 0;
  std::string svg_;
};

inline void draw(const std::string& file, const Samples& samples, const Curve& curve, const std::vector<Fit>& fits) {
  Drawing drawing(samples, curve);
  for (const Fit& fit : fits) {
    drawing.add(fit);
  }
  dragoman::base::write_file_atomic(file, drawing.finish());
}
