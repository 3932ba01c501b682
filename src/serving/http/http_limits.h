#pragma once

#include <chrono>
#include <cstddef>

namespace dragoman::serving {

/// How long a thread of the server waits before it tries again to allocate memory.
inline constexpr std::chrono::milliseconds kMemoryPause{5};

/// What one connection may send and how long it may take. Beyond it the request is refused and the connection closed.
struct HttpLimits {
  size_t head_bytes = size_t{16} << 10;       ///< request line and headers; more is 431
  size_t fields = 64;                         ///< headers; more is 431
  size_t target_bytes = size_t{8} << 10;      ///< path and query; more is 414
  size_t body_bytes = size_t{1} << 20;        ///< more is 413, told before the body is read when its length is declared
  std::chrono::milliseconds head_time{5000};  ///< from the first byte of a request, or from connecting, to its body
  std::chrono::milliseconds body_time{10000};        ///< for the whole body; longer is 408
  std::chrono::milliseconds write_time{10000};       ///< for a whole reply, and for each piece of a stream
  std::chrono::milliseconds idle_time{15000};        ///< between requests of one connection
  std::chrono::milliseconds last_request_time{500};  ///< the same once the server is to end
  size_t requests = 1000;                            ///< of one connection, which is closed after the last
  size_t connections = 4096;                         ///< at a time; one more is answered 503
  size_t connections_per_address = 64;               ///< the same for each address but this machine's own
};

}  // namespace dragoman::serving
