#pragma once

#include <memory>
#include <string_view>

#include "serving/http/http_limits.h"
#include "serving/http/http_message.h"
#include "serving/http/request_head.h"

namespace dragoman::serving {

/// Turns the bytes of one connection into requests, one after another. It knows no socket and no clock. Each head is
/// checked by `check_request_head`. Boost.Beast then parses the head and reads the body, plain or in chunks. Empty
/// lines before a request are skipped.
class RequestReader {
 public:
  enum class State {
    kIdle,  ///< no byte of a request has arrived
    kHead,  ///< within the request line and the headers
    kBody,  ///< within the body
    kDone,  ///< a request is complete; `take_request` returns it
    kBad,   ///< the connection cannot be read any further; answer `refusal` and close it
  };

  /// Requires: `limits` outlives the reader.
  explicit RequestReader(const HttpLimits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Reads on with these bytes. Bytes after a complete request are kept for the next one.
  State add(std::string_view bytes);
  [[nodiscard]] State state() const;
  /// Returns the reason for kBad.
  [[nodiscard]] const Refusal& refusal() const;
  /// Returns whether the request waits for "100 Continue" before it sends its body. True once for each such request.
  [[nodiscard]] bool clear_expectation();
  /// Returns the request of kDone, without `client`, and reads on with the bytes after it.
  Request take_request();
  /// Returns whether the connection may stay open after the request taken last.
  [[nodiscard]] bool keep_alive() const;
  /// Returns the number of bytes kept after the request taken last.
  [[nodiscard]] size_t waiting_bytes() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace dragoman::serving
