#pragma once

#include <memory>
#include <string_view>

#include "serving/http/http_limits.h"
#include "serving/http/http_message.h"
#include "serving/http/request_head.h"

namespace dragoman::serving {

/// Turns the bytes of one connection into requests, one after another, without sockets or clocks. The head is checked
/// by `check_request_head` and then parsed by Boost.Beast, which also reads the body, whole or in chunks.
class RequestReader {
 public:
  enum class State {
    kIdle,  ///< no byte of a request has come
    kHead,  ///< in request line and headers
    kBody,  ///< in the body
    kDone,  ///< a request is whole: `take` it
    kBad,   ///< nothing more can be read from this connection: answer `refusal` and close
  };

  /// @param limits  must outlive the reader
  explicit RequestReader(const HttpLimits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Adds what was read and looks how far it leads. Bytes behind a whole request wait for the next.
  State add(std::string_view bytes);
  State state() const;
  /// Of kBad.
  const Refusal& refusal() const;
  /// True once for a request that waits for "100 Continue" before it sends its body.
  bool take_expectation();
  /// The request of kDone; then looks at the bytes behind it. `client` is left to the caller.
  Request take();
  /// Of the request last taken: whether its connection may go on.
  bool keep_alive() const;
  /// Bytes that are held behind the request taken.
  size_t waiting_bytes() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace dragoman::serving
