#pragma once

#include "serving/routes/completion_request.h"

namespace dragoman::serving {

inline constexpr size_t kMostMessages = 2048;  ///< of a conversation

/// Reads the body of POST /v1/chat/completions, as completion_request reads that of a completion. A message has a role
/// (system or developer, which are one; user; assistant), a content, which is a text or a list of texts, and perhaps a
/// name. Tools, pictures, sound and answers in a given form are refused by name.
/// Throws: as completion_request; OpenAiError(400), "messages[2].role is "bot", must be system, developer, user or
///         assistant".
[[nodiscard]] CompletionRequest chat_request(const Request& request, const TextLimits& limits);

}  // namespace dragoman::serving
