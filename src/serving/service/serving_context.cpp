#include "serving/service/serving_context.h"

#include "serving/http/http_message.h"

namespace dragoman::serving {

void ServingContext::admit_key(std::string_view key, int64_t characters_of_request) {
  if (const auto known = keys.get()) {
    if (key.empty()) {
      throw HttpError(status::kForbidden, "Please contact the server operator to get an API key");
    }
    switch (known->use(key, characters_of_request)) {
      case ApiKeys::Verdict::kGood:
        break;
      case ApiKeys::Verdict::kUnknown:
        throw HttpError(status::kForbidden, "Invalid API key");
      case ApiKeys::Verdict::kTooMuch:
        throw HttpError(status::kTooManyRequests, "Slowdown: too many requests or characters in this minute",
                        {{"Retry-After", "10"}});
    }
  }
  characters += characters_of_request;
}

}  // namespace dragoman::serving
