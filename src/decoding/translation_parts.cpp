#include "decoding/translation_parts.h"

#include <algorithm>

namespace dragoman::decoding {
namespace {

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

// Grows [T, S] by a block: the new rows attend to the new columns only.
void append_alignment(Alignment& all, const Alignment& part) {
  Alignment joined;
  joined.target_length = all.target_length + part.target_length;
  joined.source_length = all.source_length + part.source_length;
  joined.weights.assign(static_cast<size_t>(joined.target_length * joined.source_length), 0.0F);
  const auto copy_block = [&](const Alignment& block, int64_t first_row, int64_t first_column) {
    for (int64_t row = 0; row < block.target_length; ++row) {
      std::copy_n(block.weights.begin() + row * block.source_length, block.source_length,
                  joined.weights.begin() + (first_row + row) * joined.source_length + first_column);
    }
  };
  copy_block(all, 0, 0);
  copy_block(part, all.target_length, all.source_length);
  joined.source_of_target = all.source_of_target;
  for (const int32_t source : part.source_of_target) {
    joined.source_of_target.push_back(source + static_cast<int32_t>(all.source_length));
  }
  all = std::move(joined);
}

// `tokens`: how many token scores each side of the mean stands for.
double weighted_mean(double a, size_t a_tokens, double b, size_t b_tokens) {
  const auto x = static_cast<double>(a_tokens);
  const auto y = static_cast<double>(b_tokens);
  return x + y > 0 ? (a * x + b * y) / (x + y) : 0.0;
}

void append_part(Translation& all, const Translation& part) {
  all.normalised_score =
      weighted_mean(all.normalised_score, all.token_scores.size(), part.normalised_score, part.token_scores.size());
  all.score += part.score;
  all.text = joined_text(std::move(all.text), part.text);
  append(all.pieces, part.pieces);
  append(all.ids, part.ids);
  append(all.token_scores, part.token_scores);
  append(all.source_pieces, part.source_pieces);
  append_alignment(all.alignment, part.alignment);
  if (part.finish_reason != FinishReason::kEndOfSentence) {
    all.finish_reason = part.finish_reason;
  }
}

const Translation& alternative_or_last(const Translation& part, size_t rank) {
  return part.alternatives.empty() ? part : part.alternatives[std::min(rank, part.alternatives.size() - 1)];
}

}  // namespace

std::string joined_text(std::string before, const std::string& part) {
  if (!before.empty() && !part.empty()) {
    before += ' ';
  }
  return before += part;
}

Translation join_parts(std::vector<Translation> parts) {
  if (parts.size() == 1) {
    return std::move(parts.front());
  }
  Translation joined;
  size_t n_alternatives = 0;
  for (const Translation& part : parts) {
    append_part(joined, part);
    n_alternatives = std::max(n_alternatives, part.alternatives.size());
  }
  for (size_t rank = 0; rank < n_alternatives; ++rank) {
    Translation alternative;
    for (const Translation& part : parts) {
      append_part(alternative, alternative_or_last(part, rank));
    }
    alternative.source_pieces.clear();
    joined.alternatives.push_back(std::move(alternative));
  }
  return joined;
}

}  // namespace dragoman::decoding
