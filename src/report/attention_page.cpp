#include "report/attention_page.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "report/attention_page_from_word.h"
#include "report/attention_page_parts.h"
#include "report/attention_page_word.h"
#include "report/html.h"
#include "report/page_texts.h"

namespace dragoman::report {
namespace {

using nlohmann::json;

constexpr double kScale = 10'000;  // weights travel as whole numbers: short and exact to four decimals

struct Kind {
  std::string_view id, name, note;
  const AttentionGrid& grid;
  const std::vector<std::string>& rows;
  const std::vector<std::string>& columns;
};

void check_sizes(const Kind& kind) {
  for (size_t layer = 0; layer < kind.grid.size(); ++layer) {
    for (size_t head = 0; head < kind.grid[layer].size(); ++head) {
      base::check_argument(kind.grid[layer][head].size() == kind.rows.size() * kind.columns.size(),
                           "attention page: {} layer {} head {} has {} weights, but {} x {} pieces; give one weight "
                           "for each pair of pieces",
                           kind.id, layer, head, kind.grid[layer][head].size(), kind.rows.size(), kind.columns.size());
    }
  }
}

json scaled(const std::vector<float>& weights) {
  json result = json::array();
  for (const float weight : weights) {
    result.push_back(std::isfinite(weight) ? json(std::lround(static_cast<double>(weight) * kScale)) : json(nullptr));
  }
  return result;
}

json to_json(const Kind& kind) {
  json layers = json::array();
  for (const auto& heads : kind.grid) {
    json layer = json::array();
    for (const auto& weights : heads) {
      layer.push_back(scaled(weights));
    }
    layers.push_back(std::move(layer));
  }
  return {{"id", kind.id},     {"name", kind.name},       {"note", kind.note},
          {"rows", kind.rows}, {"columns", kind.columns}, {"layers", std::move(layers)}};
}

// The head and the row with which the page opens: those in which the chosen word looks most at another one.
json opened_at(const AttentionPageData& data) {
  if (data.from_word.empty()) {
    return nullptr;
  }
  const WordPlace word = find_word(data);
  const auto link = strongest_link(data, word);
  return link ? json{{"layer", link->layer}, {"head", link->head}, {"row", word.begin}} : json(nullptr);
}

std::string embedded_data(const AttentionPageData& data) {
  const Kind kinds[] = {
      {"encoder", "Encoder self-attention", "Each source token looks at all source tokens.", data.encoder_self,
       data.source_pieces, data.source_pieces},
      {"cross", "Cross-attention", "Each target token, as it is predicted, looks at the source tokens.", data.cross,
       data.target_pieces, data.source_pieces},
      {"decoder", "Decoder self-attention", "Each token that the decoder has read looks at itself and those before it.",
       data.decoder_self, data.decoder_pieces, data.decoder_pieces},
  };
  json list = json::array();
  for (const Kind& kind : kinds) {
    check_sizes(kind);
    const bool is_empty = kind.grid.empty() || kind.rows.empty() || kind.columns.empty();
    if (!is_empty) {
      list.push_back(to_json(kind));
    }
  }
  return escape_json_for_script(base::dump_json({{"scale", kScale},
                                                 {"kinds", std::move(list)},
                                                 {"open", opened_at(data)},
                                                 {"chinese", json::parse(chinese_texts())}}));
}

std::string head(const std::string& title) {
  // The policy makes "no outside resource" a rule that the browser keeps.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n",
      title, attention_page_parts::style_sheet(), language_style());
}

std::string sentence(std::string_view name, const std::string& text) {
  return text.empty() ? "" : fmt::format("<dt>{}</dt><dd dir=\"auto\">{}</dd>", said(name), escape_html(text));
}

}  // namespace

std::string attention_page(const AttentionPageData& data) {
  const std::string title = escape_html(data.title.empty() ? "Attention" : data.title);
  std::string page = head(title);
  page += "<body>\n" + std::string(language_switch()) + "<main>\n<header><h1>" +
          said(data.title.empty() ? "Attention" : data.title) + "</h1>\n<dl class=\"sentences\">";
  const bool is_prompt = data.encoder_self.empty() && data.cross.empty() && !data.decoder_self.empty();
  page += sentence(is_prompt ? "prompt" : "source", data.source_text) +
          sentence(is_prompt ? "continuation" : "translation", data.translation) + "</dl></header>\n";
  page += data.from_word.empty() ? "" : attention_from_word(data);
  page += attention_page_parts::body();
  page += "<script type=\"application/json\" id=\"data\">" + embedded_data(data) + "</script>\n<script>";
  page += attention_page_parts::drawing_script();
  page += attention_page_parts::interaction_script();
  return page + "</script>\n</main>\n</body>\n</html>\n";
}

}  // namespace dragoman::report
