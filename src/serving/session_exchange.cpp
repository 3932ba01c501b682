#include "serving/session_exchange.h"

#include <boost/asio/dispatch.hpp>

namespace dragoman::serving {
namespace {

// What a slow reader of a stream may leave unread.
constexpr size_t kMaxWaitingBytes = size_t{1} << 20;

}  // namespace

SessionExchange::SessionExchange(const std::shared_ptr<HttpSession>& session, uint64_t number, Request request)
    : executor_(session->socket_.get_executor()), session_(session), number_(number), request_(std::move(request)) {}

// Runs `action` with the session in its thread, if it still stands.
template <typename Action>
void SessionExchange::post(Action action) {
  boost::asio::dispatch(executor_, [session = session_, action = std::move(action)]() mutable {
    if (const auto standing = session.lock()) {
      action(*standing);
    }
  });
}

SessionExchange::~SessionExchange() {
  if (!answered_) {
    reply({.status = 500, .body = "{\"error\": \"the request was given up\"}\n"});
  }
}

void SessionExchange::reply(Reply reply) {
  if (!answered_.exchange(true)) {
    post([number = number_, reply = std::move(reply)](HttpSession& session) mutable {
      session.answer(number, std::move(reply));
    });
  }
}

void SessionExchange::begin_stream(Reply head) {
  post([number = number_, head = std::move(head)](HttpSession& session) mutable {
    session.begin_stream(number, std::move(head));
  });
}

bool SessionExchange::send(std::string piece) {
  if (answered_ || stop_.stop_requested() || waiting_bytes_ + piece.size() > kMaxWaitingBytes) {
    return false;
  }
  waiting_bytes_ += piece.size();
  post([number = number_, piece = std::move(piece)](HttpSession& session) mutable {
    session.send(number, std::move(piece));
  });
  return true;
}

void SessionExchange::end_stream() {
  if (!answered_.exchange(true)) {
    post([number = number_](HttpSession& session) { session.end_stream(number); });
  }
}

}  // namespace dragoman::serving
