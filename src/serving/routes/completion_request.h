#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/chat/chat_template.h"
#include "decoding/generator.h"
#include "serving/http/http_message.h"
#include "serving/routes/completion_fields.h"
#include "serving/routes/sent_texts.h"
#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// Limits of one completion request, beside TextLimits.
inline constexpr int64_t kMostNewTokens = 1'000'000;  ///< in max_tokens
inline constexpr int kMostLogprobs = 20;              ///< OpenAI's own limit is 5
inline constexpr size_t kMostStops = 16;              ///< OpenAI's own limit is 4
inline constexpr size_t kLongestStop = 256;           ///< bytes

/// A checked request of POST /v1/completions or of POST /v1/chat/completions, without what only the model knows.
struct CompletionRequest {
  std::string model = {};              ///< empty = not given
  std::vector<SentText> prompts = {};  ///< of a chat one, which is made of `messages` when the model is known
  bool is_chat = false;
  std::vector<data::ChatMessage> messages = {};  ///< of a chat
  int64_t max_tokens = 16;                       ///< 0 = the prompt alone, with `echo`
  int n = 1;
  bool echo = false;
  bool stream = false;
  bool include_usage = false;
  std::optional<int> logprobs = {};   ///< number of alternatives told beside each token; none = no log-probabilities
  std::optional<uint64_t> seed = {};  ///< none = a different one for each request
  decoding::GenerationOptions options = {};  ///< all but the seed

  /// Returns the number of characters of the prompts or messages. A token id counts as one.
  [[nodiscard]] int64_t characters() const;
  /// Returns the field that holds them, for errors.
  [[nodiscard]] const char* input_name() const { return is_chat ? "messages" : "prompt"; }
};

/// Reads the body of a request, which is JSON whatever its type says. A field that is null counts as missing. Fields of
/// OpenAI's interface that cannot change the answer are ignored (user, metadata, ...); fields that would change it and
/// are not supported must have their defaults (suffix, presence_penalty, ...); all others are refused by name.
/// Throws: OpenAiError(400) with the field: "max_tokens is -1, must be 0 to 1000000", "Unrecognized request argument:
///         prompts". HttpError(400): "Invalid JSON format".
[[nodiscard]] CompletionRequest completion_request(const Request& request, const TextLimits& limits);

/// Reads the fields that both interfaces have: model, n, stream, seed, stop, and how a token is chosen. Refuses values
/// of fields that both have and that are not supported.
void read_common_fields(const CompletionFields& fields, const TextLimits& limits, CompletionRequest& asked);

}  // namespace dragoman::serving
