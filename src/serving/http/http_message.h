#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman::serving {

/// The HTTP statuses that routes use.
namespace status {
inline constexpr int kOk = 200;
inline constexpr int kCreated = 201;
inline constexpr int kNoContent = 204;
inline constexpr int kNotModified = 304;
inline constexpr int kBadRequest = 400;
inline constexpr int kUnauthorized = 401;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kMethodNotAllowed = 405;
inline constexpr int kUnsupportedMediaType = 415;
inline constexpr int kTooManyRequests = 429;
inline constexpr int kQuotaExceeded = 456;  ///< of DeepL
inline constexpr int kInternal = 500;
inline constexpr int kUnavailable = 503;
inline constexpr int kGatewayTimeout = 504;
}  // namespace status

/// One header of a request or a reply.
struct Header {
  std::string name;
  std::string value;
};

/// One HTTP request as routes see it. It has no type of an HTTP library.
struct Request {
  std::string method;           ///< "POST"
  std::string path;             ///< up to the question mark, as sent: "/translate"
  std::string query = {};       ///< after the question mark, as sent: "source=en&target=de"
  std::vector<Header> headers;  ///< in the order sent; names in any case
  std::string body = {};
  bool is_http_1_0 = false;
  std::string client = {};  ///< address of the client: "127.0.0.1"

  /// Returns the value of the first header with this name, in any case. Empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  /// Returns the media type of the body in lower case, without parameters: "application/json". Empty if there is none.
  [[nodiscard]] std::string media_type() const;
};

/// The answer of a route.
struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<Header> headers = {};  ///< more headers; `reply_head` lists those that every answer has
};

/// Returns a reply with `value` as one line of JSON. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] Reply json_reply(const nlohmann::json& value, int status = 200);

/// Returns the reason phrase of a status: "Not Found" for 404. Empty for a status that this server never sends.
[[nodiscard]] std::string_view reason_of(int status);

/// An error of a request, for the client: the status and one sentence. Routes throw it. The router, and the routes that
/// answer later, give it the shape of the imitated interface (`error_reply`).
class HttpError : public std::runtime_error {
 public:
  /// @param detail  a second sentence, which DeepL's interface has in a field of its own; others leave it out
  HttpError(int status, const std::string& message, std::vector<Header> headers = {}, std::string detail = {})
      : std::runtime_error(message), status_(status), headers_(std::move(headers)), detail_(std::move(detail)) {}
  int status() const { return status_; }
  const std::string& detail() const { return detail_; }
  const std::vector<Header>& headers() const { return headers_; }

 private:
  int status_;
  std::vector<Header> headers_;
  std::string detail_;
};

/// An error of OpenAI's interface. It may name a field of the request and has a code for programs.
class OpenAiError : public HttpError {
 public:
  /// @param param  the field, or empty;  @param code  such as "model_not_found", or empty
  OpenAiError(int status, const std::string& message, std::string param, std::string code = {},
              std::vector<Header> headers = {})
      : HttpError(status, message, std::move(headers)), param_(std::move(param)), code_(std::move(code)) {}
  const std::string& param() const { return param_; }
  const std::string& code() const { return code_; }

 private:
  std::string param_;
  std::string code_;
};

/// Throws: HttpError(400, message), always.
[[noreturn]] void bad_request(const std::string& message);

/// A request under way and the only way to answer it: `reply` once, or `begin_stream`, any number of `send`, and
/// `end_stream`. Calls after the answer, or after the client has disconnected, have no effect. An exchange that is
/// destroyed without an answer answers with status 500.
/// Threads: safe for use by any number of threads.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const Request& request() const = 0;
  virtual void reply(Reply reply) = 0;
  /// Sends the status and the headers of `head`. Its body is not sent.
  virtual void begin_stream(Reply head) = 0;
  /// Sends a piece of the body.
  /// Returns: false if the client has disconnected, or reads so slowly that the piece is dropped.
  virtual bool send(std::string piece) = 0;
  virtual void end_stream() = 0;
  /// Returns a token that stops when the client disconnects before the answer.
  virtual std::stop_token cancelled() const = 0;
};

/// A function that answers a request, before it returns or later.
/// Threads: it runs in the thread that serves all connections, so it must return soon.
using Handler = std::function<void(std::shared_ptr<HttpExchange>)>;

}  // namespace dragoman::serving
