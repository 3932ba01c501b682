#include "serving/http/http_session.h"

#include <boost/asio/dispatch.hpp>
#include <thread>

#include "base/memory.h"

namespace dragoman::serving {
namespace {

// Bytes of a stream that may wait for a slow client.
constexpr size_t kMaxWaitingBytes = size_t{1} << 20;
// A request with a body from this size on may have cost many times that memory (a JSON array takes 16 bytes for two
// characters), which is given back when the request has ended.
constexpr size_t kLargeBodyBytes = size_t{128} << 10;

}  // namespace

SessionExchange::SessionExchange(const std::shared_ptr<HttpSession>& session, uint64_t number, Request request)
    : executor_(session->socket_.get_executor()),
      session_(session),
      number_(number),
      request_(std::move(request)),
      body_bytes_(request_.body.size()) {}

// Runs `action` with the session in the session's thread, if the session still exists. A lost action would leave the
// client waiting for ever, so without memory to post it the caller waits for memory.
template <typename Action>
void SessionExchange::post(const Action& action) {
  while (true) {
    try {
      return boost::asio::dispatch(executor_, [session = session_, action] {
        if (const auto standing = session.lock()) {
          standing->run_or_close([&] { action(*standing); });
        }
      });
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kMemoryPause);
    }
  }
}

SessionExchange::~SessionExchange() {
  if (!answered_) {
    post([number = number_](HttpSession& session) {
      session.answer(number, {.status = 500, .body = "{\"error\": \"the request was not answered\"}\n"});
    });
  }
  if (body_bytes_ >= kLargeBodyBytes) {
    request_ = {};
    base::return_free_memory();
  }
}

void SessionExchange::reply(Reply reply) {
  const auto held = std::make_shared<Reply>(std::move(reply));
  if (!answered_.exchange(true)) {
    post([number = number_, held](HttpSession& session) { session.answer(number, std::move(*held)); });
  }
}

void SessionExchange::begin_stream(Reply head) {
  const auto held = std::make_shared<Reply>(std::move(head));
  post([number = number_, held](HttpSession& session) { session.begin_stream(number, std::move(*held)); });
}

bool SessionExchange::send(std::string piece) {
  if (answered_ || stop_.stop_requested() || waiting_bytes_ + piece.size() > kMaxWaitingBytes) {
    return false;
  }
  const auto held = std::make_shared<std::string>(std::move(piece));
  waiting_bytes_ += held->size();
  post([number = number_, held](HttpSession& session) { session.send(number, std::move(*held)); });
  return true;
}

void SessionExchange::end_stream() {
  if (!answered_.exchange(true)) {
    post([number = number_](HttpSession& session) { session.end_stream(number); });
  }
}

}  // namespace dragoman::serving
