#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decoding/generator.h"
#include "serving/http/http_message.h"
#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// Limits of one completion request, beside TextLimits.
inline constexpr int64_t kMostNewTokens = 1'000'000;  ///< in max_tokens; the context of the model is smaller
inline constexpr int kMostLogprobs = 20;              ///< OpenAI's own limit is 5
inline constexpr size_t kMostStops = 16;              ///< OpenAI's own limit is 4
inline constexpr size_t kLongestStop = 256;           ///< bytes

/// A prompt as it was sent: a text, or token ids.
struct SentPrompt {
  std::string text = {};
  std::vector<int32_t> ids = {};
  bool has_ids = false;
};

/// A checked request of POST /v1/completions, without what only the model knows.
struct CompletionRequest {
  std::string model = {};  ///< empty = not given
  std::vector<SentPrompt> prompts = {};
  int64_t max_tokens = 16;  ///< 0 = the prompt alone, with `echo`
  int n = 1;
  bool echo = false;
  bool stream = false;
  bool include_usage = false;
  std::optional<int> logprobs = {};   ///< number of alternatives told beside each token; none = no log-probabilities
  std::optional<uint64_t> seed = {};  ///< none = a different one for each request
  decoding::GenerationOptions options = {};  ///< all but the seed

  /// Returns the number of characters of the prompts. A token id counts as one.
  [[nodiscard]] int64_t characters() const;
};

/// Reads the body of a request, which is JSON whatever its type says. A field that is null counts as missing. Fields of
/// OpenAI's interface that cannot change the answer are ignored (user, metadata, ...); fields that would change it and
/// are not supported must have their defaults (suffix, presence_penalty, ...); all others are refused by name.
/// Throws: OpenAiError(400) with the field: "max_tokens is -1, must be 0 to 1000000", "Unrecognized request argument:
///         prompts". HttpError(400): "Invalid JSON format".
[[nodiscard]] CompletionRequest completion_request(const Request& request, const TextLimits& limits);

}  // namespace dragoman::serving
