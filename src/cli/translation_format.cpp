#include "cli/translation_format.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace dragoman::cli {
namespace {

using nlohmann::json;

double six_decimals(double value) {
  return std::round(value * 1e6) / 1e6;
}

json attention_rows(const decoding::Alignment& alignment) {
  json rows = json::array();
  for (int64_t row = 0; row < alignment.target_length; ++row) {
    json weights = json::array();
    for (int64_t column = 0; column < alignment.source_length; ++column) {
      weights.push_back(six_decimals(alignment.weights[static_cast<size_t>(row * alignment.source_length + column)]));
    }
    rows.push_back(std::move(weights));
  }
  return rows;
}

json candidate_tree(const decoding::Translation& candidate, bool soft_alignment) {
  json tree = {{"text", candidate.text},
               {"tokens", candidate.pieces},
               {"score", six_decimals(candidate.score)},
               {"normalised_score", six_decimals(candidate.normalised_score)},
               {"finish_reason", decoding::name_of(candidate.finish_reason)},
               {"alignment", candidate.alignment.source_of_target}};
  if (candidate.reverse_score) {
    tree["reverse_score"] = six_decimals(*candidate.reverse_score);
  }
  tree["token_scores"] = json::array();
  for (const float score : candidate.token_scores) {
    tree["token_scores"].push_back(six_decimals(score));
  }
  tree["ends_scored"] = candidate.token_scores.size() - candidate.pieces.size();
  if (soft_alignment) {
    tree["attention"] = attention_rows(candidate.alignment);
  }
  return tree;
}

}  // namespace

std::string json_line(uint64_t line, const std::string& source, const decoding::Translation& translation,
                      bool soft_alignment) {
  json tree = candidate_tree(translation, soft_alignment);
  tree["line"] = line;
  tree["source"] = source;
  tree["source_tokens"] = translation.source_pieces;
  tree["alternatives"] = json::array();
  for (const decoding::Translation& alternative : translation.alternatives) {
    tree["alternatives"].push_back(candidate_tree(alternative, soft_alignment));
  }
  if (!translation.error.empty()) {
    tree["error"] = translation.error;
  }
  if (!translation.warning.empty()) {
    tree["warning"] = translation.warning;
  }
  return base::dump_json(tree) + "\n";
}

std::string moses_lines(uint64_t line, const decoding::Translation& translation) {
  const auto format = [line](const decoding::Translation& candidate) {
    const std::string reverse =
        candidate.reverse_score ? fmt::format(" reverse_log_prob={:.6f}", *candidate.reverse_score) : "";
    return fmt::format("{} ||| {} ||| log_prob={:.6f} tokens={}{} ||| {:.6f}\n", line - 1, candidate.text,
                       candidate.score, candidate.token_scores.size(), reverse, candidate.normalised_score);
  };
  std::string lines = format(translation);
  for (const decoding::Translation& alternative : translation.alternatives) {
    lines += format(alternative);
  }
  return lines;
}

}  // namespace dragoman::cli
