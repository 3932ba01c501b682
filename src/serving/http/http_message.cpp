#include "serving/http/http_message.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/json.h"

namespace dragoman::serving {

std::string_view Request::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const Header& h) { return base::equal_ignoring_ascii_case(h.name, name); });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

std::string Request::media_type() const {
  std::string_view value = header("Content-Type");
  value = value.substr(0, value.find(';'));
  const size_t end = value.find_last_not_of(" \t");
  return end == std::string_view::npos ? std::string() : base::ascii_lower_case(value.substr(0, end + 1));
}

Reply json_reply(const nlohmann::json& value, int status) {
  return {.status = status, .body = base::dump_json(value) + "\n"};
}

void bad_request(const std::string& message) {
  throw HttpError(status::kBadRequest, message);
}

std::string_view reason_of(int status) {
  constexpr std::pair<int, std::string_view> kReasons[] = {
      {100, "Continue"},
      {200, "OK"},
      {201, "Created"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {456, "Quota Exceeded"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
  };
  const auto* const found = std::ranges::find(kReasons, status, &std::pair<int, std::string_view>::first);
  return found == std::end(kReasons) ? std::string_view() : found->second;
}

}  // namespace dragoman::serving
