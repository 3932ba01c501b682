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
#include "serving/http/request_reader.h"

namespace dragoman::serving {

/// What the sessions of a server share. Outlives them.
struct SessionShared {
  const HttpLimits& limits;
  HttpHooks hooks;
  bool draining = false;
  /// What was read just now from any of them: an idle connection has no buffer of its own.
  std::string input = std::string(size_t{16} << 10, '\0');
};

/// One connection: reads a request, hands it on, watches for the client going away, writes the answer, and again. Runs
/// in the one thread of its io_context; only what SessionExchange posts comes from other threads.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Tcp = boost::asio::ip::tcp;
  using Error = boost::system::error_code;

  /// @param closed  called once, when the connection has ended
  HttpSession(Tcp::socket socket, std::string client, SessionShared& shared, std::function<void(HttpSession*)> closed);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void start();
  /// Closes the connection if no request is under way or comes soon; else it closes after the answer.
  void drain();
  /// Closes it now; whatever is under way is cancelled.
  void close();

  /// Does something of this session. Closes it when that fails for want of memory: whatever state it is in, it could
  /// wait for ever.
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
    kReading,    // waits for a request, or is in one
    kHandling,   // the request is whole, its answer is not there
    kStreaming,  // the answer comes in pieces
    kWriting,    // the answer is whole and is written
    kLingering,  // all is said; what the client still sends is thrown away, so that it reads what it was told
    kClosed,
  };

  struct Output {
    std::string bytes;
    size_t of_stream;  // bytes that SessionExchange counts
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

  // From SessionExchange, in the session's thread. `number` tells which request is answered.
  void answer(uint64_t number, Reply reply);
  void begin_stream(uint64_t number, Reply head);
  void send(uint64_t number, std::string piece);
  void end_stream(uint64_t number);

  void write(std::string bytes, bool is_last, size_t of_stream = 0);
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
  RequestReader::State timed_ = RequestReader::State::kDone;  // what the read deadline was set for
  Phase phase_ = Phase::kReading;
  uint64_t number_ = 0;  // of the request under way
  Request asked_;        // the request under way, without its body
  std::weak_ptr<class SessionExchange> exchange_;
  std::chrono::steady_clock::time_point handled_at_;
  bool keep_alive_ = true;
  bool head_only_ = false;
  std::deque<Output> output_;
  bool is_writing_ = false;
  bool is_last_ = false;  // all of the answer is in output_
};

/// The exchange of one request of a session. Holds the connection weakly: an answer that comes after it has ended
/// reaches nobody. The request's number goes with every answer, and the session compares it.
class SessionExchange : public Exchange {
 public:
  SessionExchange(const std::shared_ptr<HttpSession>& session, uint64_t number, Request request);
  ~SessionExchange() override;

  const Request& request() const override { return request_; }
  void reply(Reply reply) override;
  void begin_stream(Reply head) override;
  bool send(std::string piece) override;
  void end_stream() override;
  std::stop_token cancelled() const override { return stop_.get_token(); }

  /// The client has gone.
  void cancel() { stop_.request_stop(); }
  /// Bytes of a stream that were written out.
  void sent(size_t bytes) { waiting_bytes_ -= bytes; }

 private:
  template <typename Action>
  void post(const Action& action);

  boost::asio::any_io_executor executor_;
  std::weak_ptr<HttpSession> session_;
  uint64_t number_;
  Request request_;
  std::stop_source stop_;
  std::atomic<bool> answered_{false};
  std::atomic<size_t> waiting_bytes_{0};
};

}  // namespace dragoman::serving
