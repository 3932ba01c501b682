#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "report/attention_page_token.h"
#include "report/html.h"
#include "report/page_texts.h"

namespace dragoman::report {
namespace {

constexpr double kLine = 24, kCell = 20, kTop = 30, kGap = 12, kArcs = 150;
constexpr double kCharacterWidth = 8.2;             // a little above the average at 14 px
constexpr double kSmallest = 0.95, kLargest = 1.2;  // of the drawing on the page: its text stays readable
constexpr float kFaintest = 0.01F;                  // thinner arcs are left out

void check_sizes(const TokenAttention& attention) {
  const size_t count = attention.tokens.size();
  base::check_argument(attention.query < count, "attention from token: index {} is not in the sentence of {} tokens",
                       attention.query, count);
  for (size_t head = 0; head < attention.weights.size(); ++head) {
    base::check_argument(attention.weights[head].size() == count,
                         "attention from token: head {} has {} weights for {} tokens; give one weight a token", head,
                         attention.weights[head].size(), count);
  }
}

float mean_weight(const TokenAttention& attention, size_t token) {
  float sum = 0.0F;
  for (const auto& head : attention.weights) {
    sum += head[token];
  }
  return attention.weights.empty() ? 0.0F : sum / static_cast<float>(attention.weights.size());
}

struct Layout {
  double cells_left, arcs_left, query_left, width, height;
};

double text_width(const std::string& token) {
  return kCharacterWidth * static_cast<double>(base::decode_utf8(token).size());
}

Layout layout_of(const TokenAttention& attention) {
  double widest = 0.0;
  for (const std::string& token : attention.tokens) {
    widest = std::max(widest, text_width(token));
  }
  Layout layout{};
  layout.cells_left = widest + kGap;
  layout.arcs_left = layout.cells_left + kCell * static_cast<double>(attention.weights.size()) + kGap;
  layout.query_left = layout.arcs_left + kArcs;
  layout.width = layout.query_left + text_width(attention.tokens[attention.query]) + kGap;
  layout.height = kTop + kLine * static_cast<double>(attention.tokens.size()) + 4;
  return layout;
}

double middle_of(size_t token) {
  return kTop + kLine * (static_cast<double>(token) + 0.5);
}

// Opacity of a weight: small ones stay visible; a weight that is not finite is left empty.
double shade(float weight) {
  return std::isfinite(weight) ? std::pow(std::clamp(static_cast<double>(weight), 0.0, 1.0), 0.65) : 0.0;
}

void draw_heads(const TokenAttention& attention, const Layout& layout, std::string& svg) {
  for (size_t head = 0; head < attention.weights.size(); ++head) {
    const double x = layout.cells_left + kCell * static_cast<double>(head);
    svg += fmt::format(R"(<text class="ta-head" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x + kCell / 2,
                       kTop - 8, head + 1);
    for (size_t token = 0; token < attention.tokens.size(); ++token) {
      const float weight = attention.weights[head][token];
      const std::string value = std::isfinite(weight) ? fmt::format("{:.3f}", weight) : both("not a number");
      const std::string place = fmt::format(R"(x="{:.1f}" y="{:.1f}" width="{}" height="{}")", x + 1,
                                            middle_of(token) - kCell / 2, kCell - 2, kCell);
      svg += fmt::format(R"(<rect class="ta-ground" {}/><rect class="ta-cell" {} fill-opacity="{:.3f}">)", place, place,
                         shade(weight));
      svg += fmt::format("<title>{}: {} → {}: {}</title></rect>", both("head {0}", {fmt::to_string(head + 1)}),
                         escape_html(attention.tokens[attention.query]), escape_html(attention.tokens[token]), value);
    }
  }
}

void draw_arcs(const TokenAttention& attention, const Layout& layout, std::string& svg) {
  const double from = middle_of(attention.query), right = layout.query_left - 6, left = layout.arcs_left;
  const double bend = (left + right) / 2;
  for (size_t token = 0; token < attention.tokens.size(); ++token) {
    const float weight = mean_weight(attention, token);
    if (!(weight >= kFaintest)) {  // also true for NaN
      continue;
    }
    const double to = middle_of(token);
    svg += fmt::format(
        R"(<path class="ta-arc" d="M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}" stroke-width="{:.2f}" stroke-opacity="{:.3f}">)",
        right, from, bend, from, bend, to, left, to, 0.8 + 5.0 * weight, 0.2 + 0.8 * shade(weight));
    svg += fmt::format("<title>{}: {} → {}: {:.3f}</title></path>", both("mean of heads"),
                       escape_html(attention.tokens[attention.query]), escape_html(attention.tokens[token]), weight);
  }
}

}  // namespace

std::string attention_from_token_svg(const TokenAttention& attention) {
  check_sizes(attention);
  const Layout layout = layout_of(attention);
  std::string svg = fmt::format(
      R"(<svg class="token-attention" viewBox="0 0 {:.0f} {:.0f}" style="min-width:{:.0f}px;max-width:{:.0f}px" role="img" aria-label="{}">)",
      layout.width, layout.height, layout.width * kSmallest, layout.width * kLargest,
      escape_html(attention.description));
  svg +=
      "<style>.token-attention text{font:14px system-ui,\"Noto Sans\",sans-serif;fill:currentColor}"
      ".token-attention .ta-query{font-weight:700}.token-attention .ta-head{font-size:12px;opacity:.75}"
      ".token-attention .ta-ground{fill:currentColor;fill-opacity:.06}.token-attention .ta-cell{fill:#2a5d8f}"
      ".token-attention .ta-arc{fill:none;stroke:#2a5d8f}@media (prefers-color-scheme:dark){"
      ".token-attention .ta-cell{fill:#7db3e3}.token-attention .ta-arc{stroke:#7db3e3}}</style>";
  for (const auto& [css_class, language] :
       {std::pair("en", PageLanguage::kEnglish), std::pair("zh", PageLanguage::kChinese)}) {
    svg += fmt::format(R"(<text class="ta-head {}" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", css_class,
                       layout.cells_left - 4, kTop - 8, text_in(language, "head"));
  }
  for (size_t token = 0; token < attention.tokens.size(); ++token) {
    svg += fmt::format(R"(<text{} x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)",
                       token == attention.query ? R"( class="ta-query")" : "", layout.cells_left - kGap / 2,
                       middle_of(token) + 5, escape_html(attention.tokens[token]));
  }
  draw_heads(attention, layout, svg);
  draw_arcs(attention, layout, svg);
  return svg + fmt::format(R"(<text class="ta-query" x="{:.1f}" y="{:.1f}">{}</text></svg>)", layout.query_left,
                           middle_of(attention.query) + 5, escape_html(attention.tokens[attention.query]));
}

}  // namespace dragoman::report
