#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "report/html.h"
#include "report/page_texts.h"
#include "report/svg_heat_map.h"

namespace dragoman::report {
namespace {

constexpr double kCell = 20;
constexpr double kCharacterWidth = 6.6;  // of the label's font, a little above its average
constexpr double kMaxLabel = 110, kPadding = 8, kAxisRoom = 18;
constexpr double kSmallest = 0.95, kLargest = 1.15;  // of the drawing on the page: labels of 12 px stay readable
constexpr double kLabelSlope = 0.7071;               // column labels stand at 45 degrees

double label_width(const std::vector<std::string>& labels) {
  size_t longest = 0;
  for (const std::string& label : labels) {
    longest = std::max(longest, base::decode_utf8(label).size());
  }
  return std::min(kMaxLabel, static_cast<double>(longest) * kCharacterWidth);
}

// `label` cut to what fits beside the map.
std::string short_label(const std::string& label) {
  constexpr auto kMaxCharacters = static_cast<size_t>(kMaxLabel / kCharacterWidth);
  std::u32string characters = base::decode_utf8(label);
  if (characters.size() > kMaxCharacters) {
    characters.resize(kMaxCharacters - 1);
    characters += U'\u2026';
  }
  return escape_html(base::encode_utf8(characters));
}

struct Layout {
  double left, top, width, height;
};

Layout layout_of(const HeatMap& map) {
  Layout layout{};
  layout.left = label_width(map.row_labels) + 2 * kPadding + kAxisRoom;
  layout.top = label_width(map.column_labels) * kLabelSlope + 2 * kPadding + kAxisRoom;
  const double overhang = label_width(map.column_labels) * kLabelSlope;
  layout.width = layout.left + kCell * static_cast<double>(map.column_labels.size()) + std::max(overhang, kPadding);
  layout.height = layout.top + kCell * static_cast<double>(map.row_labels.size()) + kPadding;
  return layout;
}

void draw_labels(const HeatMap& map, const Layout& layout, std::string& svg) {
  for (size_t i = 0; i < map.row_labels.size(); ++i) {
    svg +=
        fmt::format(R"(<text class="piece" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", layout.left - kPadding,
                    layout.top + kCell * (static_cast<double>(i) + 0.5) + 4, short_label(map.row_labels[i]));
  }
  for (size_t j = 0; j < map.column_labels.size(); ++j) {
    svg += fmt::format(R"svg(<text class="piece" transform="translate({:.1f} {:.1f}) rotate(-45)">{}</text>)svg",
                       layout.left + kCell * (static_cast<double>(j) + 0.6), layout.top - kPadding,
                       short_label(map.column_labels[j]));
  }
}

// Both names of the axes, each in both languages; the page shows one.
void draw_axis_names(const HeatMap& map, const Layout& layout, std::string& svg) {
  for (const auto& [css_class, language] :
       {std::pair("en", PageLanguage::kEnglish), std::pair("zh", PageLanguage::kChinese)}) {
    svg += fmt::format(
        R"svg(<text class="axis-name {}" transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="end">{}</text>)svg",
        css_class, kAxisRoom - 5, layout.top, escape_html(text_in(language, map.row_axis)));
    svg += fmt::format(R"(<text class="axis-name {}" x="{:.1f}" y="{:.1f}">{}</text>)", css_class, layout.left,
                       kAxisRoom - 5, escape_html(text_in(language, map.column_axis)));
  }
}

void draw_cell(const HeatMap& map, const Layout& layout, size_t row, size_t column, std::string& svg) {
  const float weight = map.weights[row * map.column_labels.size() + column];
  const bool is_finite = std::isfinite(weight);
  svg += fmt::format(
      R"(<rect class="{}" x="{:.0f}" y="{:.0f}" width="{}" height="{}" fill-opacity="{:.3f}"><title>{} → {}: {}</title></rect>)",
      is_finite ? "cell" : "cell broken", layout.left + kCell * static_cast<double>(column),
      layout.top + kCell * static_cast<double>(row), kCell - 1, kCell - 1,
      is_finite ? std::clamp(weight, 0.0F, 1.0F) : 1.0F, escape_html(map.row_labels[row]),
      escape_html(map.column_labels[column]), is_finite ? fmt::format("{:.3f}", weight) : both("not a number"));
}

}  // namespace

std::string heat_map(const HeatMap& map) {
  const size_t rows = map.row_labels.size(), columns = map.column_labels.size();
  base::check_argument(map.weights.size() == rows * columns,
                       "heat map '{}': {} weights, but {} row labels x {} column labels; give one weight a cell",
                       map.title, map.weights.size(), rows, columns);
  const Layout layout = layout_of(map);
  const std::string words =
      both("Heat map: {0}; {1} rows ({2}), {3} columns ({4})",
           {map.title, fmt::to_string(rows), map.row_axis, fmt::to_string(columns), map.column_axis});
  std::string svg = fmt::format(
      R"(<svg class="heat-map" viewBox="0 0 {:.0f} {:.0f}" style="min-width:{:.0f}px;max-width:{:.0f}px" role="img" aria-label="{}">)",
      layout.width, layout.height, layout.width * kSmallest, layout.width * kLargest, escape_html(words));
  svg += fmt::format(R"(<rect class="ground" x="{:.0f}" y="{:.0f}" width="{:.0f}" height="{:.0f}"/>)", layout.left,
                     layout.top, kCell * static_cast<double>(columns), kCell * static_cast<double>(rows));
  draw_labels(map, layout, svg);
  draw_axis_names(map, layout, svg);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      draw_cell(map, layout, row, column, svg);
    }
  }
  return svg + "</svg>";
}

}  // namespace dragoman::report
