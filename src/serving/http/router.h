#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// The interface to which a route belongs. It decides the shape of the route's errors.
enum class ErrorShape {
  kLibreTranslate,  ///< {"error": "text"}
  kDeepl,           ///< {"message": "text"}
  kOpenAi,          ///< {"error": {"message": "text", "type": "invalid_request_error", "param": null, "code": null}}
};

/// Returns the answer to a request that failed: status and message of an HttpError. Any other error becomes 500
/// "internal error", since its text is not meant for clients.
[[nodiscard]] Reply error_reply(ErrorShape shape, const std::exception_ptr& error);

/// Calls `action`, and answers with `error_reply` if it throws.
void answer_errors(const std::shared_ptr<HttpExchange>& exchange, ErrorShape shape,
                   const std::function<void()>& action);

/// Whether pages of other sites may read the answers (CORS).
enum class OtherOrigins { kRefused, kAllowed };

/// Returns the headers that the server adds to every answer (HttpHooks::headers), also to refusals that no route sees:
/// with kAllowed Access-Control-Allow-Origin: *, never with credentials.
[[nodiscard]] std::vector<Header> headers_of_every_answer(OtherOrigins other_origins);

/// Returns the part of the path between two slashes, counted from 0: number 1 of "/v2/glossaries/x" is "glossaries".
/// Empty if there is none.
[[nodiscard]] std::string path_segment(const Request& request, size_t number);

/// Finds the route of a request by method and path. Paths are compared byte by byte as sent: percent signs are not
/// decoded and dots are not resolved. A part in braces stands for any part of a path: "/v2/glossaries/{id}". HEAD finds
/// the route of GET. OPTIONS is answered with the methods of the path.
class Router {
 public:
  explicit Router(OtherOrigins other_origins = OtherOrigins::kRefused) : other_origins_(other_origins) {}

  /// Adds a route that answers at once.
  void add(const std::string& method, const std::string& path, ErrorShape shape,
           std::function<Reply(const Request&)> answer);
  /// Adds a route that may answer later. If `handler` throws, the router answers with `error_reply`.
  void add_later(const std::string& method, const std::string& path, ErrorShape shape, Handler handler);
  /// Adds a route that answers at once, for all paths with this beginning: "/assets/".
  void add_prefix(const std::string& method, const std::string& prefix, ErrorShape shape,
                  std::function<Reply(const Request&)> answer);

  /// Calls the route of a request. An unknown path gets 404, a method that the path does not have gets 405 with Allow.
  void handle(const std::shared_ptr<HttpExchange>& exchange) const;
  /// Returns whether there is a route at this path, or at this pattern of paths such as "/v2/glossaries/{glossary_id}".
  [[nodiscard]] bool has(const std::string& path) const;
  /// Returns the path of the route as a label for metrics: "/translate", "/assets/". For an unknown path it is "other",
  /// so that clients cannot create labels.
  [[nodiscard]] std::string label_of(const Request& request) const;

 private:
  struct Route {
    std::string method;
    std::string path;
    bool is_prefix;
    ErrorShape shape;
    Handler handler;
  };

  ErrorShape shape_below(const std::string& path) const;
  static bool leads_to(const Route& route, const std::string& path);
  Reply no_route(const Request& request) const;

  OtherOrigins other_origins_;
  std::vector<Route> routes_;
};

}  // namespace dragoman::serving
