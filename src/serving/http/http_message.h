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

/// The statuses that routes name.
namespace status {
inline constexpr int kOk = 200;
inline constexpr int kNoContent = 204;
inline constexpr int kNotModified = 304;
inline constexpr int kBadRequest = 400;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kMethodNotAllowed = 405;
inline constexpr int kTooManyRequests = 429;
inline constexpr int kQuotaExceeded = 456;  ///< of DeepL
inline constexpr int kInternal = 500;
inline constexpr int kUnavailable = 503;
inline constexpr int kGatewayTimeout = 504;
}  // namespace status

struct Header {
  std::string name;
  std::string value;
};

/// One HTTP request as routes see it. Nothing in it comes from a library.
struct Request {
  std::string method;           ///< "POST"
  std::string path;             ///< up to the question mark, as sent: "/translate"
  std::string query = {};       ///< behind it, as sent: "source=en&target=de"
  std::vector<Header> headers;  ///< in order; names in any case
  std::string body = {};
  bool is_http_1_0 = false;
  std::string client = {};  ///< address of the other side: "127.0.0.1"

  /// The value of the first header of that name, in any case; empty if there is none.
  std::string_view header(std::string_view name) const;
  /// The media type of the body in lower case, without parameters: "application/json"; empty if there is none.
  std::string media_type() const;
};

/// What a route answers.
struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<Header> headers = {};  ///< beside Content-Type, Content-Length, Date and those that guard browsers
};

/// `value` as one line of JSON; invalid UTF-8 becomes U+FFFD.
Reply json_reply(const nlohmann::json& value, int status = 200);

/// "Not Found" for 404; empty for a status that this server never sends.
std::string_view reason_of(int status);

/// What is wrong with a request, for the client: the status and one sentence. Routes throw it; the router and the
/// routes that answer later put it into the shape of the imitated interface.
class HttpError : public std::runtime_error {
 public:
  HttpError(int status, const std::string& message, std::vector<Header> headers = {})
      : std::runtime_error(message), status_(status), headers_(std::move(headers)) {}
  int status() const { return status_; }
  const std::vector<Header>& headers() const { return headers_; }

 private:
  int status_;
  std::vector<Header> headers_;
};

/// Throws HttpError(400, message).
[[noreturn]] void bad_request(const std::string& message);

/// A request under way and the only way to answer it: `reply` once, or `begin_stream`, any number of `send`, and
/// `end_stream`. All may be called from any thread; what comes after the answer, or after the client has gone, is
/// dropped. An exchange that goes without an answer is answered with status 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  virtual void reply(Reply reply) = 0;
  /// Sends status and headers of `head`; its body is not looked at.
  virtual void begin_stream(Reply head) = 0;
  /// @return false once nobody reads any more, or too slowly
  virtual bool send(std::string piece) = 0;
  virtual void end_stream() = 0;
  /// Stops when the client goes away before it is answered.
  virtual std::stop_token cancelled() const = 0;
};

/// Takes a request and sees to its answer, now or later. Runs in a thread that serves all connections, so it must
/// return soon.
using Handler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace dragoman::serving
