#include "serving/http/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "serving/http/http_session.h"
#include "serving/http/reply_head.h"

namespace dragoman::serving {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{20};
// Descriptors that are not connections: standard streams, listener, event queue, a model being read.
constexpr size_t kOtherDescriptors = 32;

Tcp::acceptor listen_at(asio::io_context& io, const Listen& listen) {
  error_code error;
  const asio::ip::address address =
      asio::ip::make_address(listen.host == "localhost" ? "127.0.0.1" : listen.host, error);
  base::check_usage(!error,
                    "--host is \"{}\", must be an address of this machine such as 127.0.0.1 or ::", listen.host);
  const Tcp::endpoint endpoint(address, listen.port);
  Tcp::acceptor acceptor(io);
  const auto check = [&] {
    base::check(!error, base::ErrorKind::kRuntime, "{}:{}: cannot listen: {}; choose another --port or --host",
                listen.host, listen.port, error.message());
  };
  acceptor.open(endpoint.protocol(), error), check();
  acceptor.set_option(Tcp::acceptor::reuse_address(true), error), check();
  if (const int yes = 1; listen.share_port) {
    const int failed = ::setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
    error.assign(failed == 0 ? 0 : errno, boost::system::system_category()), check();
  }
  acceptor.bind(endpoint, error), check();
  acceptor.listen(asio::socket_base::max_listen_connections, error), check();
  acceptor.non_blocking(true, error), check();
  return acceptor;
}

// Raises the limit of open descriptors. Returns the number of connections that it allows, at most `connections`.
size_t raise_descriptor_limit(size_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return connections;
  }
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, connections + kOtherDescriptors));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const size_t room = limit.rlim_cur > 2 * kOtherDescriptors ? limit.rlim_cur - kOtherDescriptors : limit.rlim_cur / 2;
  return std::min(connections, room);
}

}  // namespace

class HttpServer::State {
 public:
  State(const Listen& listen, const HttpLimits& limits, HttpHooks hooks, Signals signals)
      : limits_(limits),
        shared_{limits_, std::move(hooks)},
        acceptor_(listen_at(io_, listen)),
        pause_(io_),
        drain_end_(io_),
        signals_(io_),
        max_connections_(raise_descriptor_limit(limits.connections)) {
    if (signals == Signals::kHandled) {
      for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        signals_.add(signal);
      }
    }
  }

  ~State() { close_all(); }

  void run(const std::function<void()>& on_stop, const std::function<void()>& on_reload) {
    while (!io_.stopped()) {
      try {
        if (signal_wait_.expired()) {
          wait_for_signal(on_stop, on_reload);
        }
        if (accept_wait_.expired()) {
          accept();
        }
        io_.run();
      } catch (const std::exception&) {  // out of memory: the loop begins again what was not begun
        std::this_thread::sleep_for(kMemoryPause);
      }
    }
    close_all();
  }

  void drain(std::chrono::milliseconds at_most) {
    asio::post(io_, [this, at_most] {
      shared_.draining = true;
      welcome_all();
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      for (const auto& session : all_sessions()) {
        session->drain();
      }
      if (sessions_.empty()) {
        return io_.stop();
      }
      drain_end_.expires_after(at_most);
      drain_end_.async_wait([this](const error_code& error) {
        if (!error) {
          io_.stop();
        }
      });
    });
  }

  void stop() { io_.stop(); }
  uint16_t port() const { return acceptor_.local_endpoint().port(); }
  ConnectionCounts counts() const { return {open_, accepted_, refused_}; }

 private:
  // Lives in the handler of a wait. If it expires, no wait is pending, and a new one must begin.
  struct Wait {};

  void wait_for_signal(const std::function<void()>& on_stop, const std::function<void()>& on_reload) {
    const auto wait = std::make_shared<Wait>();
    signals_.async_wait([this, on_stop, on_reload, wait](const error_code& error, int signal) {
      if (error) {
        return;
      }
      signal == SIGHUP ? on_reload() : on_stop();
      wait_for_signal(on_stop, on_reload);
    });
    signal_wait_ = wait;
  }

  void accept() {
    if (!acceptor_.is_open()) {
      return;
    }
    const auto wait = std::make_shared<Wait>();
    acceptor_.async_accept([this, wait](const error_code& error, Tcp::socket socket) {
      if (!acceptor_.is_open()) {
        return;
      }
      if (error) {  // too many files, no memory, or a client that left at once: the server listens on
        return accept_later(wait);
      }
      ++accepted_;
      welcome(std::move(socket));
      accept();
    });
    accept_wait_ = wait;
  }

  void accept_later(const std::shared_ptr<Wait>& wait) {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this, wait](const error_code& cancelled) {
      if (!cancelled) {
        accept();
      }
    });
  }

  // Otherwise connections that wait at the port would be reset.
  void welcome_all() {
    error_code error;
    while (acceptor_.is_open() && !error) {
      Tcp::socket socket(io_);
      acceptor_.accept(socket, error);
      if (!error) {
        ++accepted_;
        welcome(std::move(socket));
      }
    }
  }

  void welcome(Tcp::socket socket) {
    error_code error;
    const asio::ip::address address = socket.remote_endpoint(error).address();
    const std::string client = error ? std::string() : address.to_string();
    size_t& of_client = per_client_[client];
    if (sessions_.size() >= max_connections_ ||
        (of_client >= limits_.connections_per_address && !address.is_loopback())) {
      if (of_client == 0) {
        per_client_.erase(client);
      }
      return turn_away(socket);
    }
    auto session = std::make_shared<HttpSession>(std::move(socket), client, shared_,
                                                 [this, client](HttpSession* closed) { forget(closed, client); });
    sessions_.emplace(session.get(), session);
    ++of_client;
    open_ = sessions_.size();
    session->start();
  }

  // Writes what fits into the buffer of the socket and does not wait for the client.
  void turn_away(Tcp::socket& socket) {
    ++refused_;
    const Reply reply{
        .status = 503, .body = "{\"error\": \"too many connections\"}\n", .headers = {{"Retry-After", "1"}}};
    error_code ignored;
    socket.non_blocking(true, ignored);
    const std::string head = reply_head(reply, Framing::kLength, Connection::kClose, shared_.hooks.headers);
    socket.write_some(asio::buffer(head + reply.body), ignored);
    socket.shutdown(Tcp::socket::shutdown_send, ignored);
  }

  void forget(HttpSession* session, const std::string& client) {
    sessions_.erase(session);
    open_ = sessions_.size();
    if (const auto found = per_client_.find(client); found != per_client_.end() && --found->second == 0) {
      per_client_.erase(found);
    }
    if (shared_.draining && sessions_.empty()) {
      io_.stop();
    }
  }

  std::vector<std::shared_ptr<HttpSession>> all_sessions() const {
    std::vector<std::shared_ptr<HttpSession>> all;
    for (const auto& [address, session] : sessions_) {
      all.push_back(session);
    }
    return all;
  }

  void close_all() {
    for (const auto& session : all_sessions()) {
      session->close();
    }
  }

  HttpLimits limits_;
  SessionShared shared_;
  asio::io_context io_{1};
  Tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  asio::steady_timer drain_end_;
  asio::signal_set signals_;
  std::weak_ptr<Wait> signal_wait_;
  std::weak_ptr<Wait> accept_wait_;
  size_t max_connections_;
  std::unordered_map<HttpSession*, std::shared_ptr<HttpSession>> sessions_;
  std::map<std::string, size_t> per_client_;
  std::atomic<size_t> open_{0};
  std::atomic<uint64_t> accepted_{0};
  std::atomic<uint64_t> refused_{0};
};

std::string address_of(const std::string& host, uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("http://[{}]:{}", host, port) : fmt::format("http://{}:{}", host, port);
}

HttpServer::HttpServer(const Listen& listen, const HttpLimits& limits, HttpHooks hooks, Signals signals)
    : state_(std::make_unique<State>(listen, limits, std::move(hooks), signals)) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
  return state_->port();
}

void HttpServer::run(const std::function<void()>& on_stop, const std::function<void()>& on_reload) {
  state_->run(on_stop, on_reload);
}

void HttpServer::drain(std::chrono::milliseconds at_most) {
  state_->drain(at_most);
}

void HttpServer::stop() {
  state_->stop();
}

ConnectionCounts HttpServer::counts() const {
  return state_->counts();
}

}  // namespace dragoman::serving
