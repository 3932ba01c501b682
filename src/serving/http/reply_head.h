#pragma once

#include <optional>
#include <string>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// How the end of a body is told.
enum class Framing {
  kLength,   ///< Content-Length, of reply.body
  kChunked,  ///< in chunks, for streams
  kClose,    ///< it ends with the connection, for streams to HTTP/1.0
};

/// Status line and headers of an answer, up to and with the blank line: Date, Content-Type, framing, Connection, those
/// of the reply, and those that guard browsers (X-Content-Type-Options, Content-Security-Policy: nothing from
/// elsewhere, no inline script or style; Referrer-Policy). A header of the reply that holds a CR or LF is left out.
std::string reply_head(const Reply& reply, Framing framing, bool keep_alive);

/// One chunk: size in hexadecimal, line end, the bytes, line end. Nothing for no bytes, which would end the body.
std::string chunk_of(std::string_view bytes);

/// What ends a chunked body.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace dragoman::serving
