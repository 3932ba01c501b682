#include "serving/http/request_reader.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "serving/http/request_target.h"

namespace dragoman::serving {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::string text_of(boost::beast::string_view view) {
  return {view.data(), view.size()};
}

Refusal refusal_of(const boost::beast::error_code& error, const HttpLimits& limits) {
  if (error == http::error::body_limit) {
    return {413, fmt::format("the body has more than {} bytes", limits.body_bytes)};
  }
  if (error == http::error::header_limit) {
    return {431, fmt::format("the headers have more than {} bytes", limits.head_bytes)};
  }
  return {400, fmt::format("the request cannot be read: {}", error.message())};
}

}  // namespace

class RequestReader::Parser {
 public:
  explicit Parser(const HttpLimits& limits) : limits_(limits) {}

  void add(std::string_view bytes) {
    buffer_ += bytes;
    advance();
  }

  void advance() {
    if (state_ == State::kIdle) {
      skip_empty_lines();
      state_ = buffer_.empty() || buffer_ == "\r" ? State::kIdle : State::kHead;
    }
    if (state_ == State::kHead) {
      read_head();
    }
    if (state_ == State::kBody) {
      read_body();
    }
  }

  Request take_request() {
    Request request = std::move(request_);
    request.body = std::move(parser_->get().body());
    keep_alive_ = parser_->keep_alive();
    parser_.reset();
    state_ = State::kIdle;
    searched_ = 0;
    advance();
    return request;
  }

  State state_ = State::kIdle;
  Refusal refusal_;
  bool expects_ = false;
  bool keep_alive_ = false;
  std::string buffer_;  // bytes that belong to no request yet

 private:
  void refuse(Refusal refusal) {
    refusal_ = std::move(refusal);
    state_ = State::kBad;
    buffer_.clear();
    parser_.reset();
  }

  // Skips the line ends that some clients send behind a body (RFC 9112, section 2.2). A CR alone may begin another one.
  void skip_empty_lines() {
    size_t skipped = 0;
    while (std::string_view(buffer_).substr(skipped).starts_with("\r\n")) {
      skipped += 2;
    }
    buffer_.erase(0, skipped);
  }

  void read_head() {
    const size_t end = buffer_.find(kHeadEnd, searched_);
    const size_t size = end == std::string::npos ? buffer_.size() : end + kHeadEnd.size();
    if (size > limits_.head_bytes) {
      return refuse({431, fmt::format("the headers have more than {} bytes", limits_.head_bytes)});
    }
    if (end == std::string::npos) {
      searched_ = buffer_.size() - std::min(buffer_.size(), kHeadEnd.size() - 1);
      return;
    }
    if (auto refusal = check_request_head(std::string_view(buffer_).substr(0, size), limits_)) {
      return refuse(std::move(*refusal));
    }
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(static_cast<uint32_t>(limits_.head_bytes));
    parser_->body_limit(limits_.body_bytes);
    state_ = State::kBody;
    put(size);  // the head alone
    if (state_ == State::kBody) {
      keep_head();
    }
  }

  // Called before the body is read: a trailer behind the body must not become a header.
  void keep_head() {
    const auto& message = parser_->get();
    RequestTarget target = parse_request_target(text_of(message.target())).value_or(RequestTarget());
    request_ = {.method = text_of(message.method_string()),
                .path = std::move(target.path),
                .query = std::move(target.query),
                .headers = {}};
    for (const auto& field : message) {
      // The host of an absolute target counts, not that of Host (RFC 9112, section 3.2.2).
      const bool is_replaced = field.name() == http::field::host && !target.authority.empty();
      request_.headers.push_back(
          {text_of(field.name_string()), is_replaced ? target.authority : text_of(field.value())});
    }
    request_.is_http_1_0 = message.version() == 10;
    expects_ = !request_.is_http_1_0 && !request_.header("Expect").empty();
  }

  void read_body() {
    while (state_ == State::kBody && !parser_->is_done() && put(buffer_.size())) {
    }
    if (state_ == State::kBody && parser_->is_done()) {
      state_ = State::kDone;
      expects_ = false;
    }
  }

  // Gives the parser up to `size` bytes of the buffer. Returns false if the parser needs more bytes.
  bool put(size_t size) {
    boost::beast::error_code error;
    const size_t used = size == 0 ? 0 : parser_->put(boost::asio::buffer(buffer_.data(), size), error);
    buffer_.erase(0, used);
    if (error == http::error::need_more) {
      error = {};
    } else if (error) {
      refuse(refusal_of(error, limits_));
      return false;
    }
    // The rest is an incomplete first line of a chunk. It may be as long as a head.
    if (used == 0 && buffer_.size() > limits_.head_bytes) {
      refuse({400, "a line between chunks is too long"});
    }
    return used > 0;
  }

  const HttpLimits& limits_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Request request_;      // built from the head read last
  size_t searched_ = 0;  // the end of the head does not begin before this offset
};

RequestReader::RequestReader(const HttpLimits& limits) : parser_(std::make_unique<Parser>(limits)) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::add(std::string_view bytes) {
  parser_->add(bytes);
  return parser_->state_;
}

RequestReader::State RequestReader::state() const {
  return parser_->state_;
}

const Refusal& RequestReader::refusal() const {
  return parser_->refusal_;
}

bool RequestReader::clear_expectation() {
  return std::exchange(parser_->expects_, false);
}

Request RequestReader::take_request() {
  return parser_->take_request();
}

bool RequestReader::keep_alive() const {
  return parser_->keep_alive_;
}

size_t RequestReader::waiting_bytes() const {
  return parser_->buffer_.size();
}

}  // namespace dragoman::serving
