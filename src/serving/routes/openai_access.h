#pragma once

#include <cstdint>
#include <string>

#include "serving/http/http_message.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Throws: OpenAiError(400, message) with the field `param`, always.
[[noreturn]] void refuse_field(const std::string& param, const std::string& message);

/// Throws: OpenAiError(404, message) for the field "model" with the code model_not_found, always.
[[noreturn]] void refuse_model(const std::string& message);

/// As refuse_model: "The model `x` does not exist; GET /v1/models lists those that are served".
[[noreturn]] void refuse_unknown_model(const std::string& id);

/// Checks the key of "Authorization: Bearer KEY", and counts the characters (ServingContext::admit_key).
/// Throws: OpenAiError(401) with the code invalid_api_key, and HttpError(429).
void admit_openai(ServingContext& context, const Request& request, int64_t characters);

}  // namespace dragoman::serving
