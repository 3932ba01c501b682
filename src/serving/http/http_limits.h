#pragma once

#include <chrono>
#include <cstddef>

namespace dragoman::serving {

/// The time that a thread of the server waits before it tries again to allocate memory.
inline constexpr std::chrono::milliseconds kMemoryPause{5};

/// The limits of one connection, in bytes and in time. A request beyond a limit is refused and its connection is
/// closed.
struct HttpLimits {
  size_t head_bytes = size_t{16} << 10;   ///< request line and headers; more gets status 431
  size_t fields = 64;                     ///< number of headers; more gets 431
  size_t target_bytes = size_t{8} << 10;  ///< path and query; more gets 414
  /// A larger body gets 413, before it is read if its length is declared.
  size_t body_bytes = size_t{1} << 20;
  std::chrono::milliseconds head_time{5000};         ///< from connecting, or the first byte of a request, to its body
  std::chrono::milliseconds body_time{10000};        ///< for the whole body; longer gets 408
  std::chrono::milliseconds write_time{10000};       ///< for a whole reply, or for each piece of a stream
  std::chrono::milliseconds idle_time{15000};        ///< between requests of one connection
  std::chrono::milliseconds last_request_time{500};  ///< idle_time of a server that stops
  size_t requests = 1000;                            ///< of one connection; it is closed after the last one
  size_t connections = 4096;                         ///< at a time; one more gets 503
  size_t connections_per_address = 64;               ///< at a time from one address; loopback has no limit
};

}  // namespace dragoman::serving
