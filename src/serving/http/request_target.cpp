#include "serving/http/request_target.h"

#include <algorithm>

#include "base/ascii.h"

namespace dragoman::serving {
namespace {

bool is_visible(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7F;
}

// Removes "http://" or "https://" from `target`. Returns false if it has neither.
bool cut_scheme(std::string_view& target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (base::equal_ignoring_ascii_case(target.substr(0, scheme.size()), scheme)) {
      target.remove_prefix(scheme.size());
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_authority(std::string_view text) {
  return std::ranges::all_of(text, is_visible) && text.find_first_of("/?#@\\,<>\"'") == std::string_view::npos;
}

std::optional<RequestTarget> parse_request_target(std::string_view target) {
  if (!std::ranges::all_of(target, is_visible) || target.find('#') != std::string_view::npos) {
    return std::nullopt;
  }
  RequestTarget parts;
  if (cut_scheme(target)) {
    const std::string_view authority = target.substr(0, target.find_first_of("/?"));
    if (authority.empty() || authority.starts_with(':') || !is_authority(authority)) {
      return std::nullopt;
    }
    parts.authority = authority;
    target.remove_prefix(authority.size());
  } else if (!target.starts_with('/') && target != "*") {
    return std::nullopt;
  }
  const size_t mark = std::min(target.find('?'), target.size());
  parts.path = target.substr(0, mark);
  parts.path = parts.path.empty() ? "/" : parts.path;
  parts.query = target.substr(std::min(mark + 1, target.size()));
  return parts;
}

}  // namespace dragoman::serving
