#pragma once

#include <optional>
#include <span>
#include <string>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// How an answer shows where its body ends.
enum class Framing {
  kLength,   ///< by Content-Length, the size of reply.body
  kChunked,  ///< by chunks, for streams
  kClose,    ///< by the end of the connection, for streams to HTTP/1.0
};

/// Whether the connection stays open after the answer.
enum class Connection { kKeepAlive, kClose };

/// Returns whether a header has neither CR nor LF. `reply_head` leaves out all others, since they would split the
/// answer. No route makes such a header; the tests check that.
[[nodiscard]] bool is_one_line(const Header& header);

/// Returns the status line and the headers of an answer, including the blank line. The headers are Date, Connection,
/// Content-Type, the framing, those of the reply, those of the server, and three for browsers: X-Content-Type-Options,
/// Referrer-Policy, and a Content-Security-Policy that allows nothing from other servers, no inline script and no
/// inline style.
/// @param of_server  the headers of every answer (HttpHooks)
[[nodiscard]] std::string reply_head(const Reply& reply, Framing framing, Connection connection,
                                     std::span<const Header> of_server);

/// Returns one chunk: size in hexadecimal, line end, the bytes, line end. Empty for no bytes, since an empty chunk
/// would end the body.
[[nodiscard]] std::string chunk_of(std::string_view bytes);

/// The chunk that ends a body.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace dragoman::serving
