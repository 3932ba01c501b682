#pragma once

#include <cstdint>
#include <vector>

#include "base/fields.h"
#include "data/token_text.h"
#include "decoding/scorer.h"
#include "models/model.h"

namespace dragoman::decoding {

/// How running text is scored. Perplexity depends on window and stride; who quotes one names them.
struct TextScoreOptions {
  int64_t window = 0;
  int64_t stride = 0;
  int64_t random_windows = 0;
  uint64_t seed = 1;

  static constexpr const char* kTitle = "Scores of running text";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void TextScoreOptions::fields(Visit&& visit) {
  using base::Field;
  using O = TextScoreOptions;
  visit(Field("window", &O::window, "Context that a prediction has at most; 0 = the context of the model", {0, 1 << 20},
              "tokens"));
  visit(Field("stride", &O::stride,
              "New tokens of each window, the others being its context; window = no token has more context than its "
              "window gives; 0 = half the window",
              {0, 1 << 20}, "tokens"));
  visit(Field("random_windows", &O::random_windows,
              "Estimate the loss from so many windows at random places instead, each token of which counts; nanoGPT's "
              "estimate takes 12,800",
              {0, 1e9}));
  visit(Field("seed", &O::seed, "Of the places of random windows"));
}

/// How probable a language model finds a text.
struct TextScore {
  std::vector<float> log_probs;  ///< nats, of each token but the first; of random windows one after the other
  double log_prob = 0.0;         ///< their sum
  uint64_t bytes = 0;            ///< of the text that was scored; of random windows 0
  int64_t window = 0, stride = 0;

  int64_t tokens() const { return static_cast<int64_t>(log_probs.size()); }
  /// Returns: nats per token.
  double loss() const { return -log_prob / static_cast<double>(tokens()); }
};

/// Scores a text in windows: each token but the first is predicted once, from the tokens before it in its window. The
/// first window counts all of its tokens, each later one its last `stride`.
/// @param execution  never changes the result
/// Throws: Error(kUsage) for options out of range, "window is 512, the model takes 256"; Error(kBadData) for a text of
/// fewer than two tokens.
TextScore score_text(const models::Model& model, const data::TokenText& text, const TextScoreOptions& options,
                     const ScoreOptions& execution = {});

}  // namespace dragoman::decoding
