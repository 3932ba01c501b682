#include "serving/routes/deepl_access.h"

#include <fmt/format.h>

#include <random>

#include "base/ascii.h"

namespace dragoman::serving {

std::string deepl_key(const Request& request) {
  const std::string_view value = request.header("Authorization");
  const std::string_view scheme = value.substr(0, value.find(' '));
  return base::equal_ignoring_ascii_case(scheme, "DeepL-Auth-Key")
             ? std::string(base::trim(value.substr(scheme.size()), " "))
             : std::string();
}

// Converts errors of the key to the statuses and texts of DeepL.
void admit_deepl(ServingContext& context, const Request& request, int64_t characters) {
  try {
    context.admit_key(deepl_key(request), characters);
  } catch (const HttpError& error) {
    throw HttpError(error.status(),
                    error.status() == status::kForbidden
                        ? "Authorization failed. Please supply a valid DeepL-Auth-Key via the Authorization header."
                        : "Too many requests.",
                    error.headers());
  }
}

Reply traced(Reply reply) {
  std::random_device device;
  reply.headers.push_back({"X-Trace-ID", fmt::format("{:08x}{:08x}", device(), device())});
  return reply;
}

}  // namespace dragoman::serving
