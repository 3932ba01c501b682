#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serving/http/http_hooks.h"

namespace dragoman::serving {

/// The address at which a server listens.
struct Listen {
  std::string host = "127.0.0.1";  ///< address of this machine; 0.0.0.0 or :: = all addresses
  uint16_t port = 5000;            ///< 0 = any free port
  /// Other servers of the same user that set this may listen at the port too (SO_REUSEPORT). So a new server can begin
  /// before the old one ends.
  bool share_port = false;
};

/// Returns "http://127.0.0.1:5000", with brackets around an address of IPv6.
[[nodiscard]] std::string address_of(const std::string& host, uint16_t port);

/// Who handles SIGTERM, SIGINT and SIGHUP.
enum class Signals {
  kHandled,  ///< the server, from its construction on
  kLeft,     ///< the rest of the process; the server ends by `stop` alone
};

/// The numbers of connections, for the metrics.
struct ConnectionCounts {
  size_t open = 0;  ///< now
  uint64_t accepted = 0;
  uint64_t refused = 0;  ///< beyond a limit of connections
};

/// An HTTP/1.1 server: one thread and any number of connections. HttpLimits bounds the bytes and the time of each
/// connection. RequestReader turns bytes into requests; the handler answers through HttpExchange from any thread.
/// If a client disconnects, its exchange is cancelled. Requests on one connection are answered in order.
class HttpServer {
 public:
  /// Listens before it returns.
  /// Throws: Error(kUsage): "--host is "x", must be an address of this machine such as 127.0.0.1 or ::".
  ///         Error(kRuntime): "127.0.0.1:5000: cannot listen: Address already in use; choose another --port or --host".
  HttpServer(const Listen& listen, const HttpLimits& limits, HttpHooks hooks, Signals signals = Signals::kHandled);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Returns the port at which the server listens.
  [[nodiscard]] uint16_t port() const;
  /// Serves until `drain` has finished or `stop` is called. The signals SIGTERM and SIGINT call `on_stop`, SIGHUP calls
  /// `on_reload`, both in the calling thread, unless they are left to the process.
  void run(const std::function<void()>& on_stop, const std::function<void()>& on_reload);
  /// Accepts the connections that wait at the port, then stops listening. Requests under way are answered, and so are
  /// requests that open connections send within HttpLimits::last_request_time. `run` returns when all are answered, or
  /// after `at_most`.
  /// Threads: any thread may call it.
  void drain(std::chrono::milliseconds at_most);
  /// Closes all connections; `run` returns. Threads: any thread may call it.
  void stop();
  /// Threads: any thread may call it.
  [[nodiscard]] ConnectionCounts counts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace dragoman::serving
