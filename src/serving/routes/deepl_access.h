#pragma once

#include <cstdint>
#include <string>

#include "serving/http/http_message.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// Returns the key of "Authorization: DeepL-Auth-Key KEY", with the scheme in any case (RFC 9110, section 11.1). Empty
/// if there is none.
[[nodiscard]] std::string deepl_key(const Request& request);

/// Checks the key of a request, and counts the characters (ServingContext::admit_key).
/// Throws: HttpError(403) and HttpError(429) with the texts of DeepL.
void admit_deepl(ServingContext& context, const Request& request, int64_t characters);

/// Adds the header X-Trace-ID, an identifier that both sides can write into their logs.
[[nodiscard]] Reply traced(Reply reply);

}  // namespace dragoman::serving
