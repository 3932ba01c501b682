#include "serving/http/http_session.h"

#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>

namespace dragoman::serving {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

// Bytes of later requests that are read while a request is handled. Beyond them the session stops reading until the
// answer.
constexpr size_t kMaxAheadBytes = size_t{64} << 10;
constexpr std::chrono::milliseconds kLingerTime{2000};

}  // namespace

HttpSession::HttpSession(Tcp::socket socket, std::string client, SessionShared& shared,
                         std::function<void(HttpSession*)> closed)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      shared_(shared),
      closed_(std::move(closed)),
      client_(std::move(client)),
      reader_(shared.limits) {}

HttpSession::~HttpSession() = default;

void HttpSession::start() {
  run_or_close([this] { begin(); });
}

void HttpSession::begin() {
  Error ignored;
  socket_.set_option(Tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  set_deadline(shared_.limits.head_time);
  timed_ = RequestReader::State::kIdle;
  read();
}

void HttpSession::read() {
  socket_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](const Error& error) {
    self->run_or_close([&] { self->on_read(error); });
  });
}

void HttpSession::on_read(const Error& error) {
  if (phase_ == Phase::kClosed || error == asio::error::operation_aborted) {
    return;
  }
  Error failure = error;
  const size_t size = failure ? 0 : read_some(failure);
  if (failure == asio::error::would_block) {
    return read();
  }
  if (failure) {
    return close();
  }
  if (phase_ == Phase::kLingering) {
    return read();
  }
  reader_.add({shared_.input.data(), size});
  look();
}

size_t HttpSession::read_some(Error& error) {
  return socket_.read_some(asio::buffer(shared_.input), error);
}

// Continues according to the state of the reader.
void HttpSession::look() {
  using State = RequestReader::State;
  const State state = reader_.state();
  if (state == State::kDone) {
    return handle();
  }
  if (state == State::kBad) {
    return refuse(reader_.refusal());
  }
  if (state != timed_) {  // empty lines between two requests do not lengthen the time of an idle connection
    timed_ = state;
    set_deadline(state == State::kIdle
                     ? (shared_.draining ? shared_.limits.last_request_time : shared_.limits.idle_time)
                 : state == State::kHead ? shared_.limits.head_time
                                         : shared_.limits.body_time);
  }
  if (reader_.clear_expectation()) {
    auto line = std::make_shared<std::string>("HTTP/1.1 100 Continue\r\n\r\n");
    asio::async_write(socket_, asio::buffer(*line), [self = shared_from_this(), line](const Error& error, size_t) {
      self->run_or_close([&] { error ? self->close() : self->read(); });
    });
    return;
  }
  read();
}

void HttpSession::handle() {
  timer_.cancel();
  phase_ = Phase::kHandling;
  timed_ = RequestReader::State::kDone;
  handled_at_ = steady_clock::now();
  Request request = reader_.take_request();
  request.client = client_;
  asked_ = {.method = request.method, .path = request.path, .headers = {}, .is_http_1_0 = request.is_http_1_0};
  ++number_;
  keep_alive_ = reader_.keep_alive() && number_ < shared_.limits.requests;
  head_only_ = request.method == "HEAD";
  {
    const auto exchange = std::make_shared<SessionExchange>(shared_from_this(), number_, std::move(request));
    exchange_ = exchange;
    shared_.hooks.handle(exchange);
  }
  if (phase_ == Phase::kHandling || phase_ == Phase::kStreaming) {
    watch();
  }
}

// Waits for input or a disconnect of the client while its request is handled.
void HttpSession::watch() {
  socket_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](const Error& error) {
    self->run_or_close([&] { self->on_watched(error); });
  });
}

void HttpSession::on_watched(const Error& error) {
  if (error || (phase_ != Phase::kHandling && phase_ != Phase::kStreaming)) {
    return;
  }
  Error failure;
  const size_t size = read_some(failure);
  if (failure == asio::error::would_block) {
    return watch();
  }
  if (failure) {
    return close();
  }
  reader_.add({shared_.input.data(), size});
  if (reader_.waiting_bytes() < kMaxAheadBytes && reader_.state() != RequestReader::State::kBad) {
    watch();
  }
}

void HttpSession::refuse(const Refusal& refusal) {
  shared_.hooks.answered({}, refusal.status, 0.0);
  Reply reply{.status = refusal.status};
  reply.body = "{\"error\": \"" + refusal.message + "\"}\n";  // a text of this program: nothing in it needs escaping
  keep_alive_ = false;
  phase_ = Phase::kLingering;
  write(head_of(reply, Framing::kLength) + reply.body, Piece::kLast);
}

void HttpSession::answer(uint64_t number, Reply reply) {
  if (number != number_ || phase_ == Phase::kStreaming) {
    return end_stream(number);
  }
  if (phase_ != Phase::kHandling) {
    return;
  }
  const std::chrono::duration<double> seconds = steady_clock::now() - handled_at_;
  shared_.hooks.answered(asked_, reply.status, seconds.count());
  keep_alive_ = keep_alive_ && !shared_.draining;
  std::string bytes = head_of(reply, Framing::kLength);
  phase_ = Phase::kWriting;
  write(head_only_ ? std::move(bytes) : std::move(bytes) + reply.body, Piece::kLast);
}

void HttpSession::begin_stream(uint64_t number, Reply head) {
  if (number != number_ || phase_ != Phase::kHandling) {
    return;
  }
  keep_alive_ = keep_alive_ && !shared_.draining && !asked_.is_http_1_0;
  phase_ = Phase::kStreaming;
  shared_.hooks.answered(asked_, head.status, std::chrono::duration<double>(steady_clock::now() - handled_at_).count());
  const Framing framing = asked_.is_http_1_0 ? Framing::kClose : Framing::kChunked;
  write(head_of(head, framing), Piece::kMore);
}

void HttpSession::send(uint64_t number, std::string piece) {
  if (number == number_ && phase_ == Phase::kStreaming) {
    const size_t size = piece.size();
    write(asked_.is_http_1_0 ? std::move(piece) : chunk_of(piece), Piece::kMore, size);
  }
}

void HttpSession::end_stream(uint64_t number) {
  if (number == number_ && phase_ == Phase::kStreaming) {
    phase_ = Phase::kWriting;
    write(asked_.is_http_1_0 ? std::string() : std::string(kLastChunk), Piece::kLast);
  }
}

std::string HttpSession::head_of(const Reply& reply, Framing framing) const {
  return reply_head(reply, framing, keep_alive_ ? Connection::kKeepAlive : Connection::kClose, shared_.hooks.headers);
}

void HttpSession::write(std::string bytes, Piece piece, size_t of_stream) {
  is_last_ = piece == Piece::kLast;
  output_.push_back({std::move(bytes), of_stream});
  if (!is_writing_) {
    write_next();
  }
}

void HttpSession::write_next() {
  is_writing_ = true;
  set_deadline(shared_.limits.write_time);
  asio::async_write(
      socket_, asio::buffer(output_.front().bytes),
      [self = shared_from_this()](const Error& error, size_t) { self->run_or_close([&] { self->written(error); }); });
}

void HttpSession::written(const Error& error) {
  is_writing_ = false;
  if (phase_ == Phase::kClosed) {
    return;
  }
  if (error) {
    return close();
  }
  if (const auto exchange = exchange_.lock()) {
    exchange->sent(output_.front().of_stream);
  }
  output_.pop_front();
  if (!output_.empty()) {
    return write_next();
  }
  timer_.cancel();
  if (!is_last_) {
    return;
  }
  if (phase_ == Phase::kLingering) {
    return linger();
  }
  if (!keep_alive_) {
    phase_ = Phase::kLingering;
    return reader_.waiting_bytes() > 0 ? linger() : close();
  }
  Error ignored;
  socket_.cancel(ignored);  // the watch
  phase_ = Phase::kReading;
  look();
}

// A connection that is closed with unread bytes is reset, and then the client may not be able to read the answer.
void HttpSession::linger() {
  Error ignored;
  socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  set_deadline(kLingerTime);
  read();
}

void HttpSession::set_deadline(std::chrono::milliseconds after) {
  timer_.expires_after(after);
  timer_.async_wait([self = weak_from_this()](const Error& error) {
    const auto session = self.lock();
    if (!error && session != nullptr && session->timer_.expiry() <= steady_clock::now()) {
      session->run_or_close([&] { session->on_deadline(); });
    }
  });
}

void HttpSession::on_deadline() {
  using State = RequestReader::State;
  const bool is_in_request = reader_.state() == State::kHead || reader_.state() == State::kBody;
  if (phase_ == Phase::kReading && is_in_request && !is_writing_) {
    Error ignored;
    socket_.cancel(ignored);  // the read
    return refuse({408, "the request was not complete in time"});
  }
  close();
}

void HttpSession::drain() {
  if (phase_ == Phase::kReading && reader_.state() == RequestReader::State::kIdle) {
    run_or_close([this] { set_deadline(shared_.limits.last_request_time); });
  }
}

void HttpSession::close() {
  if (phase_ == Phase::kClosed) {
    return;
  }
  phase_ = Phase::kClosed;
  const auto self = shared_from_this();
  if (const auto exchange = exchange_.lock()) {
    exchange->cancel();
  }
  timer_.cancel();
  Error ignored;
  socket_.close(ignored);
  closed_(this);
}

}  // namespace dragoman::serving
