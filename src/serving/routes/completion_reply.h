#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "decoding/generator.h"
#include "serving/http/http_message.h"
#include "serving/routes/completion_request.h"
#include "serving/routes/completion_tokens.h"
#include "serving/service/served_models.h"

namespace dragoman::serving {

/// A request of a completion or a chat with what the model says of its prompts.
struct ReadCompletion {
  CompletionRequest asked;
  std::shared_ptr<const ServedModels> models;
  const ServedLanguageModel* model = nullptr;      ///< one of `models`
  std::vector<std::vector<int32_t>> prompts = {};  ///< ids of each prompt

  size_t parts() const { return prompts.size() * static_cast<size_t>(asked.n); }
  /// Returns the number of the prompt that a part continues. The parts of a prompt stand together.
  size_t prompt_of(size_t part) const { return part / static_cast<size_t>(asked.n); }
  /// Returns the prompt as the answer echoes it; empty without `echo`.
  [[nodiscard]] std::string echo_of(size_t part) const;
};

/// The answer to a completion or a chat: one JSON object, or server-sent events while the texts grow. The joined pieces
/// of a stream are the texts of the object.
class CompletionAnswer {
 public:
  explicit CompletionAnswer(std::shared_ptr<const ReadCompletion> read);

  /// Returns the whole answer. @param texts  of each part
  [[nodiscard]] Reply whole(const std::vector<decoding::Continuation>& texts) const;

  /// Return the events of a stream, each with its blank line; empty if there is nothing to tell.
  /// Threads: two parts may be told at a time, the pieces of one part one after another.
  [[nodiscard]] std::string piece(size_t part, const decoding::GeneratedPart& piece);
  [[nodiscard]] std::string end_of(size_t part, const decoding::Continuation& text) const;
  /// Returns the number of tokens, if requested, and the last event.
  [[nodiscard]] std::string end(const std::vector<decoding::Continuation>& texts) const;
  /// Returns the event that ends a stream after an error.
  [[nodiscard]] static std::string error(const std::exception_ptr& error);

 private:
  struct Growing {
    bool is_begun = false;
    CompletionTokens tokens;
  };
  enum class Part { kWhole, kBegin, kPiece, kEnd };  // of a text
  nlohmann::json head(bool is_stream) const;
  std::string event(nlohmann::json choices, nlohmann::json usage) const;
  std::string begin_of(size_t part, const decoding::GeneratedPart& piece);
  nlohmann::json choice(size_t part, Part kind, std::string text, nlohmann::json logprobs, nlohmann::json reason) const;
  nlohmann::json take_logprobs(CompletionTokens& tokens, std::string_view text) const;
  nlohmann::json usage(const std::vector<decoding::Continuation>& texts) const;
  CompletionTokens no_tokens() const;
  nlohmann::json whole_choice(size_t part, const decoding::Continuation& text) const;

  std::shared_ptr<const ReadCompletion> read_;
  std::string id_;
  int64_t created_;
  std::vector<Growing> growing_;  // of each part
};

}  // namespace dragoman::serving
