#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serving/http/http_limits.h"

namespace dragoman::serving {

/// Why a request is not taken: the connection is closed after this answer.
struct Refusal {
  int status = 400;
  std::string message;
};

/// Checks request line and headers as they came, before any parser that is more lenient sees them. What two programs
/// might read differently is refused, for that is how requests are smuggled past a proxy: a bare LF or CR, a header
/// line that goes on in the next (obs-fold), a space before the colon, control characters, two Content-Length, a
/// Content-Length that is no plain number, Content-Length beside Transfer-Encoding, any Transfer-Encoding but one
/// "chunked", two Host or none. Also refused: what is over the limits (414, 431), a content coding (415), an
/// expectation other than 100-continue (417), a version other than HTTP/1.0 and HTTP/1.1 (505).
/// Source: RFC 9112, sections 2.2, 3, 5 and 6.3; RFC 9110, sections 5.5, 8.4 and 10.1.1.
/// @param head  up to and with the blank line that ends it
/// @return what is wrong; nothing if nothing is
std::optional<Refusal> check_request_head(std::string_view head, const HttpLimits& limits);

}  // namespace dragoman::serving
