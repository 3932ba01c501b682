#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>

#include "serving/http/http_hooks.h"
#include "serving/http/reply_head.h"
#include "serving/http/request_reader.h"

namespace dragoman::serving {

/// The state that all sessions of a server share. Requires: it outlives the sessions.
struct SessionShared {
  const HttpLimits& limits;
  HttpHooks hooks;
  bool draining = false;
  /// The bytes read last, from any session. An idle connection has no buffer.
  std::string input = std::string(size_t{16} << 10, '\0');
};

/// One connection: it reads a request, calls the handler, watches whether the client disconnects, writes the answer and
/// begins again.
/// Threads: it runs in the one thread of its io_context. SessionExchange posts what other threads send.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Tcp = boost::asio::ip::tcp;
  using Error = boost::system::error_code;

  /// @param closed  is called once, when the connection has ended
  HttpSession(Tcp::socket socket, std::string client, SessionShared& shared, std::function<void(HttpSession*)> closed);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void start();
  /// Closes the connection after the answer if a request is under way or comes soon. Otherwise closes it soon.
  void drain();
  /// Closes the connection now and cancels the request under way.
  void close();

  /// Calls `action`, and closes the session if it throws. Without memory the state of the session is unknown, and the
  /// session could wait for ever.
  template <typename Action>
  void run_or_close(const Action& action) {
    try {
      action();
    } catch (const std::exception&) {
      close();
    }
  }

 private:
  friend class SessionExchange;
  enum class Phase {
    kReading,    // waits for a request, or reads one
    kHandling,   // the request is complete, the answer is not known
    kStreaming,  // the answer comes in pieces
    kWriting,    // the answer is complete and is being written
    kLingering,  // the answer is written; later input is discarded, so that the client can read the answer
    kClosed,
  };

  // Whether more of the answer follows.
  enum class Piece { kMore, kLast };

  struct Output {
    std::string bytes;
    size_t of_stream;  // number of bytes that SessionExchange counts
  };

  void begin();
  void read();
  void on_read(const Error& error);
  void look();
  void handle();
  void watch();
  void on_watched(const Error& error);
  size_t read_some(Error& error);
  void refuse(const Refusal& refusal);

  // Called by SessionExchange in the session's thread. `number` is the number of the request that is answered.
  void answer(uint64_t number, Reply reply);
  void begin_stream(uint64_t number, Reply head);
  void send(uint64_t number, std::string piece);
  void end_stream(uint64_t number);

  std::string head_of(const Reply& reply, Framing framing) const;
  void write(std::string bytes, Piece piece, size_t of_stream = 0);
  void write_next();
  void written(const Error& error);
  void linger();
  void set_deadline(std::chrono::milliseconds after);
  void on_deadline();

  Tcp::socket socket_;
  boost::asio::steady_timer timer_;
  SessionShared& shared_;
  std::function<void(HttpSession*)> closed_;
  std::string client_;
  RequestReader reader_;
  RequestReader::State timed_ = RequestReader::State::kDone;  // the state for which the read deadline was set
  Phase phase_ = Phase::kReading;
  uint64_t number_ = 0;  // number of the request under way
  Request asked_;        // the request under way, without its body
  std::weak_ptr<class SessionExchange> exchange_;
  std::chrono::steady_clock::time_point handled_at_;
  bool keep_alive_ = true;
  bool head_only_ = false;
  std::deque<Output> output_;
  bool is_writing_ = false;
  bool is_last_ = false;  // output_ holds the whole rest of the answer
};

/// The exchange of one request of a session. It holds the session weakly: an answer after the end of the session is
/// dropped. The number of the request goes with every answer, and the session compares it.
class SessionExchange : public HttpExchange {
 public:
  SessionExchange(const std::shared_ptr<HttpSession>& session, uint64_t number, Request request);
  ~SessionExchange() override;

  const Request& request() const override { return request_; }
  void reply(Reply reply) override;
  void begin_stream(Reply head) override;
  bool send(std::string piece) override;
  void end_stream() override;
  std::stop_token cancelled() const override { return stop_.get_token(); }

  /// Stops the token of `cancelled`. Called when the client has disconnected.
  void cancel() { stop_.request_stop(); }
  /// Subtracts the bytes of a stream that were written.
  void sent(size_t bytes) { waiting_bytes_ -= bytes; }

 private:
  template <typename Action>
  void post(const Action& action);

  boost::asio::any_io_executor executor_;
  std::weak_ptr<HttpSession> session_;
  uint64_t number_;
  Request request_;
  size_t body_bytes_;
  std::stop_source stop_;
  std::atomic<bool> answered_{false};
  std::atomic<size_t> waiting_bytes_{0};
};

}  // namespace dragoman::serving
