#include "serving/routes/openai_access.h"

#include <fmt/format.h>

#include "base/ascii.h"

namespace dragoman::serving {
namespace {

// Returns the key of the header, with the scheme in any case (RFC 9110, section 11.1). Empty if there is none.
std::string bearer_key(const Request& request) {
  const std::string_view value = request.header("Authorization");
  const std::string_view scheme = value.substr(0, value.find(' '));
  return base::equal_ignoring_ascii_case(scheme, "Bearer") ? std::string(base::trim(value.substr(scheme.size()), " "))
                                                           : std::string();
}

}  // namespace

void refuse_field(const std::string& param, const std::string& message) {
  throw OpenAiError(status::kBadRequest, message, param);
}

void refuse_model(const std::string& message) {
  throw OpenAiError(status::kNotFound, message, "model", "model_not_found");
}

void refuse_unknown_model(const std::string& id) {
  constexpr size_t kShown = 64;
  refuse_model(
      fmt::format("The model `{}` does not exist; GET /v1/models lists those that are served", id.substr(0, kShown)));
}

void admit_openai(ServingContext& context, const Request& request, int64_t characters) {
  const std::string key = bearer_key(request);
  try {
    context.admit_key(key, characters);
  } catch (const HttpError& error) {
    if (error.status() != status::kForbidden) {
      throw OpenAiError(error.status(), error.what(), "", "rate_limit_exceeded", error.headers());
    }
    throw OpenAiError(
        status::kUnauthorized,
        key.empty() ? "No API key is given; send it as \"Authorization: Bearer KEY\"" : "Incorrect API key provided",
        "", "invalid_api_key", {{"WWW-Authenticate", "Bearer"}});
  }
}

}  // namespace dragoman::serving
