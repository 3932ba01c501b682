#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/generator.h"

namespace dragoman::serving {

/// The tokens of one text, which grow with it, in the form of OpenAI's `logprobs`.
/// Threads: not safe for use by two threads.
class CompletionTokens {
 public:
  /// @param alternatives  the number of likeliest tokens told for each one
  CompletionTokens(data::Vocabulary vocabulary, int alternatives)
      : vocabulary_(std::move(vocabulary)), alternatives_(alternatives) {}

  /// Adds the tokens of an echoed prompt. Its first token has no log-probability.
  void add_prompt(const std::vector<int32_t>& ids, const decoding::PromptScores& scores);
  /// Adds generated tokens. @param scores, likeliest  of each; more, as those of the end, are not told
  void add(const std::vector<int32_t>& ids, const std::vector<float>& scores,
           const std::vector<std::vector<decoding::LikelyToken>>& likeliest);

  /// Takes the text that was told since the last call. Returns the object `logprobs` of the tokens that begin in the
  /// text so far and were not returned before. Tokens of a stop string never are. `text_offset` counts the characters
  /// of the text before each token.
  [[nodiscard]] nlohmann::json take(std::string_view text);
  /// As `take`, in the form of chats: {"content": [{"token", "logprob", "bytes", "top_logprobs"}, ...]}.
  [[nodiscard]] nlohmann::json take_for_chat(std::string_view text);

 private:
  struct Token {
    int32_t id;
    std::optional<float> log_prob;
    std::vector<decoding::LikelyToken> likeliest;
    size_t begin;      // in bytes
    size_t character;  // number of the character
  };
  void add_token(int32_t id, std::optional<float> log_prob, std::vector<decoding::LikelyToken> likeliest);
  std::vector<Token> take_tokens(std::string_view text);
  nlohmann::json alternatives_of(const Token& token) const;
  nlohmann::json chat_token(int32_t id, float log_prob) const;

  data::Vocabulary vocabulary_;
  int alternatives_;
  std::deque<Token> waiting_;
  size_t bytes_ = 0;       // of all tokens that were added
  size_t characters_ = 0;  // that begin in them
  size_t told_bytes_ = 0;  // of the text
};

}  // namespace dragoman::serving
