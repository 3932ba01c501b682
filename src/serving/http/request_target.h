#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman::serving {

/// The parts of the target of a request line.
struct RequestTarget {
  std::string path;       ///< begins with /, or is "*"
  std::string query;      ///< after the question mark
  std::string authority;  ///< host and port of an absolute target; otherwise empty
};

/// Returns the parts of a target: "/translate?q=a", "http://host:5000/translate?q=a", or "*". Nothing for a target of
/// another form, with a user or a fragment, with characters beyond ASCII, or without a host. The path of an absolute
/// target without one is "/".
/// Source: RFC 9112, section 3.2; RFC 9110, section 4.2.
[[nodiscard]] std::optional<RequestTarget> parse_request_target(std::string_view target);

/// Returns whether a text may be the value of Host: a name or an address, with or without a port. An empty one may.
[[nodiscard]] bool is_authority(std::string_view text);

}  // namespace dragoman::serving
