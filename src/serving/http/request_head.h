#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serving/http/http_limits.h"

namespace dragoman::serving {

/// The reason for which a request is refused. The connection is closed after this answer.
struct Refusal {
  int status = 400;
  std::string message;
};

/// Checks the bytes of the request line and the headers, before a more lenient parser sees them. Framing that two
/// programs could read differently is refused, since such requests are smuggled past proxies. It refuses
/// - a bare LF or CR, a folded header line (obs-fold), a space before the colon, a control character;
/// - two Content-Length, one that is no plain number, or one beside Transfer-Encoding;
/// - a Transfer-Encoding other than a single "chunked"; two Host headers, or none;
/// - a head beyond the limits (414, 431), a content coding (415), an expectation other than 100-continue (417);
/// - a target that parse_request_target does not know;
/// - a version other than HTTP/1.0 and HTTP/1.1 (505).
/// Returns: what is wrong, or nothing.
/// Source: RFC 9112, sections 2.2, 3, 5 and 6.3; RFC 9110, sections 5.5, 8.4 and 10.1.1.
/// @param head  including the blank line that ends it
[[nodiscard]] std::optional<Refusal> check_request_head(std::string_view head, const HttpLimits& limits);

}  // namespace dragoman::serving
