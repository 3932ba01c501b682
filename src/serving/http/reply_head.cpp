#include "serving/http/reply_head.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace dragoman::serving {
namespace {

// Browsers load from this server only; see docs/serving.md.
constexpr std::string_view kBrowserGuards =
    "X-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n";

std::string framing_lines(const Reply& reply, Framing framing) {
  switch (framing) {
    case Framing::kLength:
      return reply.status == status::kNoContent || reply.status == status::kNotModified
                 ? std::string()
                 : fmt::format("Content-Length: {}\r\n", reply.body.size());
    case Framing::kChunked:
      return "Transfer-Encoding: chunked\r\n";
    case Framing::kClose:
      return {};
  }
  return {};
}

std::string header_lines(std::span<const Header> headers) {
  std::string lines;
  for (const Header& header : headers) {
    if (is_one_line(header)) {
      lines += fmt::format("{}: {}\r\n", header.name, header.value);
    }
  }
  return lines;
}

}  // namespace

bool is_one_line(const Header& header) {
  constexpr const char* kLineEnds = "\r\n";
  return header.name.find_first_of(kLineEnds) == std::string::npos &&
         header.value.find_first_of(kLineEnds) == std::string::npos;
}

std::string reply_head(const Reply& reply, Framing framing, Connection connection, std::span<const Header> of_server) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\nConnection: {}\r\n",
                                 reply.status, reason_of(reply.status), fmt::gmtime(now),
                                 connection == Connection::kKeepAlive ? "keep-alive" : "close");
  if (!reply.content_type.empty()) {
    head += fmt::format("Content-Type: {}\r\n", reply.content_type);
  }
  head += framing_lines(reply, framing);
  head += header_lines(reply.headers);
  head += header_lines(of_server);
  head += kBrowserGuards;
  return head + "\r\n";
}

std::string chunk_of(std::string_view bytes) {
  return bytes.empty() ? std::string() : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace dragoman::serving
