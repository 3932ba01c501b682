#include "report/attention_page_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/error.h"

namespace dragoman::report {
namespace {

constexpr std::string_view kWordStart = "\u2581";  // SentencePiece's mark of a space
constexpr std::string_view kEnd = "</s>";

std::string without_mark(const std::string& piece) {
  return piece.starts_with(kWordStart) ? piece.substr(kWordStart.size()) : piece;
}

// True for text with a letter or digit, of any script.
bool is_word(const std::string& piece) {
  const std::string text = without_mark(piece);
  return piece != kEnd && std::ranges::any_of(text, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte >= 0x80 || std::isalnum(byte) != 0;
         });
}

// The number of pieces from `begin` on that spell `word`, or 0.
size_t pieces_that_spell(const std::vector<std::string>& pieces, size_t begin, std::string_view word) {
  std::string spelt;
  for (size_t end = begin; end < pieces.size() && spelt.size() < word.size();) {
    spelt += without_mark(pieces[end++]);
    if (spelt == word) {
      return end - begin;
    }
  }
  return 0;
}

bool is_whole(const std::vector<std::string>& pieces, const WordPlace& place) {
  const bool begins = place.begin == 0 || pieces[place.begin].starts_with(kWordStart) ||
                      pieces[place.begin - 1] == kWordStart || !is_word(pieces[place.begin - 1]);
  const bool ends =
      place.end == pieces.size() || pieces[place.end].starts_with(kWordStart) || !is_word(pieces[place.end]);
  return begins && ends;
}

// The weights from one query to the tokens, with the word's columns summed.
std::vector<float> merged(std::vector<float> row, const WordPlace& word) {
  for (size_t piece = word.begin + 1; piece < word.end; ++piece) {
    row[word.begin] += row[piece];
  }
  const auto begin = row.begin() + static_cast<std::ptrdiff_t>(word.begin);
  row.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(word.end - word.begin));
  return row;
}

// The mean of the word's rows of a matrix [S, S].
std::vector<float> mean_row(const std::vector<float>& weights, const WordPlace& word, size_t length) {
  std::vector<float> mean(length, 0.0F);
  for (size_t row = word.begin; row < word.end; ++row) {
    for (size_t column = 0; column < length; ++column) {
      mean[column] += weights[row * length + column] / static_cast<float>(word.end - word.begin);
    }
  }
  return mean;
}

}  // namespace

WordPlace find_word(const AttentionPageData& data) {
  std::string word = data.from_word;
  std::erase(word, ' ');
  std::optional<WordPlace> first;
  for (size_t begin = 0; begin < data.source_pieces.size(); ++begin) {
    const WordPlace place{begin, begin + pieces_that_spell(data.source_pieces, begin, word)};
    if (place.end > begin && is_whole(data.source_pieces, place)) {
      return place;
    }
    first = first || place.end == begin ? first : place;
  }
  std::vector<std::string> pieces;
  std::ranges::transform(data.source_pieces, std::back_inserter(pieces), without_mark);
  base::check_usage(first.has_value(), "attention: the sentence has no word '{}'; its pieces are {}", data.from_word,
                    fmt::join(pieces, ", "));
  return *first;
}

TokenAttention attention_from(const AttentionPageData& data, const WordPlace& word, size_t layer) {
  TokenAttention attention;
  attention.tokens = data.source_pieces;
  const auto begin = attention.tokens.begin() + static_cast<std::ptrdiff_t>(word.begin);
  attention.tokens.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(word.end - word.begin));
  attention.tokens[word.begin] = data.from_word;
  attention.query = word.begin;
  for (const std::vector<float>& weights : data.encoder_self[layer]) {
    attention.weights.push_back(merged(mean_row(weights, word, data.source_pieces.size()), word));
  }
  return attention;
}

std::optional<StrongestLink> strongest_link(const AttentionPageData& data, const WordPlace& word) {
  std::optional<StrongestLink> best;
  for (size_t layer = 0; layer < data.encoder_self.size(); ++layer) {
    const TokenAttention attention = attention_from(data, word, layer);
    for (size_t head = 0; head < attention.weights.size(); ++head) {
      for (size_t token = 0; token < attention.tokens.size(); ++token) {
        const float weight = attention.weights[head][token];
        const bool counts = token != attention.query && is_word(attention.tokens[token]) && std::isfinite(weight);
        if (counts && (!best || weight > best->weight)) {
          best = StrongestLink{layer, head, without_mark(attention.tokens[token]), weight};
        }
      }
    }
  }
  return best;
}

}  // namespace dragoman::report
