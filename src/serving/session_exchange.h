#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <memory>

#include "serving/http_session.h"

namespace dragoman::serving {

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
