#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serving/http/http_hooks.h"

namespace dragoman::serving {

/// Where a server listens.
struct Listen {
  std::string host = "127.0.0.1";  ///< address of this machine; 0.0.0.0 or :: = all of them
  uint16_t port = 5000;            ///< 0 = any that is free
  /// Others of this user that say the same may listen there too (SO_REUSEPORT): a new server begins before the old one
  /// ends.
  bool share_port = false;
};

/// Numbers of the connections, for metrics.
struct ConnectionCounts {
  size_t open = 0;  ///< now
  uint64_t accepted = 0;
  uint64_t refused = 0;  ///< over a limit of connections
};

/// An HTTP/1.1 server: one thread, any number of connections, each with a limit and a deadline for everything it can
/// do (HttpLimits). Bytes become requests in RequestReader; the handler answers through Exchange from any thread.
/// A connection whose client goes away cancels its exchange. Requests on one connection are answered in order.
class HttpServer {
 public:
  /// Listens at once. Throws Error(kUsage) for an address that is none, Error(kRuntime) for one that is not free:
  /// "127.0.0.1:5000: cannot listen: Address already in use; choose another --port".
  HttpServer(const Listen& listen, const HttpLimits& limits, HttpHooks hooks);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port listened at.
  uint16_t port() const;
  /// Serves until `drain` is through or `stop` is called. The signals SIGTERM and SIGINT call `on_stop`, SIGHUP calls
  /// `on_reload`, in this thread.
  void run(const std::function<void()>& on_stop, const std::function<void()>& on_reload);
  /// Takes the connections that have come, and no more; lets requests under way be answered, and those that come within
  /// HttpLimits::last_request_time on connections that are open. `run` returns when all are, or when `at_most` is
  /// over. Any thread.
  void drain(std::chrono::milliseconds at_most);
  /// Closes everything. Any thread.
  void stop();
  ConnectionCounts counts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace dragoman::serving
