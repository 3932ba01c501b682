#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sample/pronoun_twins.h"
#include "decoding/translator.h"

namespace dragoman::decoding {

/// The words of a sentence, cut at spaces, and the pieces of each that hold a letter.
struct SentenceWords {
  std::vector<std::string> texts;           ///< without signs before and after
  std::vector<std::vector<size_t>> pieces;  ///< places in the list of pieces

  /// Returns the place of the first word with this text. Throws: Error(kBadData) if there is none.
  [[nodiscard]] size_t find(std::string_view text) const;
};

/// Throws: Error(kBadData) unless each space of `line` begins a piece: "pronoun attention: the vocabulary joins words
/// of
/// "..."; choose another vocabulary".
[[nodiscard]] SentenceWords sentence_words(std::string_view line, std::span<const std::string> pieces);

/// The words of the first sentence between which attention moves, if the second sentence is read instead.
struct AttentionMovement {
  size_t gain;  ///< has most more weight in the first sentence
  size_t loss;  ///< has most more weight in the second sentence
};

/// Compares two rows of attention weights over words. Only words that both sentences have and that are at least three
/// letters long are looked at; the n-th "the" of one sentence is the n-th "the" of the other.
/// @param first, second  weight of each word.  Returns nothing if no word is common.
[[nodiscard]] std::optional<AttentionMovement> attention_movement(const SentenceWords& first_words,
                                                                  std::span<const float> first,
                                                                  const SentenceWords& second_words,
                                                                  std::span<const float> second);

/// How often the difference of one head names the noun that "it" stands for.
struct HeadNaming {
  std::string attention;      ///< path: "decoder.layers.1.cross_attention"
  int64_t head = 0;           ///< from 0
  int64_t named = 0;          ///< sentences whose noun gains more weight than every other word, against the twin
  int64_t named_of_even = 0;  ///< of them, sentences of pairs with an even number
};

struct PronounAttention {
  std::vector<HeadNaming> heads;  ///< in the order of the model
  int64_t pairs = 0;

  [[nodiscard]] int64_t sentences() const { return 2 * pairs; }
};

/// Runs the model on twins and compares their attention: in the encoder the row of "it", in cross-attention the row of
/// the step at which the reference translations part. The references are fed (teacher forcing), so the numbers do not
/// depend on a search.
/// @param english, german  lines of the test part.  Requires: a model with cross-attention for English to German
/// Throws: Error(kBadData) for rows that do not fit the lines, Error(kUsage) if the model shows no attention.
[[nodiscard]] PronounAttention measure_pronoun_attention(const Translator& translator,
                                                         std::span<const data::PronounTwins> twins,
                                                         std::span<const std::string> english,
                                                         std::span<const std::string> german);

/// Returns one line for each of the `count` best heads, best first, and the rate of the head that is best on one half
/// of the pairs, measured on the other half.
[[nodiscard]] std::string pronoun_attention_report(const PronounAttention& attention, size_t count = 8);

}  // namespace dragoman::decoding
