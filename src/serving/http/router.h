#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// Which interface a route belongs to, and so how its errors look.
enum class ErrorShape {
  kLibreTranslate,  ///< {"error": "text"}
  kDeepl,           ///< {"message": "text"}
};

/// The answer to a request that failed: the status and message of an HttpError, 500 and "internal error" for anything
/// else, whose text is not for clients.
Reply error_reply(ErrorShape shape, const std::exception_ptr& error);

/// Calls `action`; what it throws becomes the answer.
void answer_errors(const std::shared_ptr<Exchange>& exchange, ErrorShape shape, const std::function<void()>& action);

/// Leads requests to routes by method and path. Paths are compared as they were sent; no percent sign in them is read,
/// no dot followed. HEAD goes where GET goes, OPTIONS is answered with what there is.
class Router {
 public:
  /// @param allow_other_origins  answers carry Access-Control-Allow-Origin: *, never with credentials
  explicit Router(bool allow_other_origins = false) : allow_other_origins_(allow_other_origins) {}

  /// A route that is answered at once.
  void add(const std::string& method, const std::string& path, ErrorShape shape,
           std::function<Reply(const Request&)> answer);
  /// A route that sees to its answer itself; what it throws is answered here.
  void add_later(const std::string& method, const std::string& path, ErrorShape shape, Handler handler);
  /// The same for all paths that begin so: "/assets/".
  void add_prefix(const std::string& method, const std::string& prefix, ErrorShape shape,
                  std::function<Reply(const Request&)> answer);

  /// Answers, or sees to it. 404 for a path that nobody has, 405 with Allow for a method that the path does not take.
  void handle(const std::shared_ptr<Exchange>& exchange) const;
  /// The route's own path for a label of metrics, never what a client made up: "/translate", "/assets/", "other".
  std::string label_of(const Request& request) const;

 private:
  struct Route {
    std::string method;
    std::string path;
    bool is_prefix;
    ErrorShape shape;
    Handler handler;
  };

  static bool leads_to(const Route& route, const std::string& path);
  Reply no_route(const Request& request) const;

  bool allow_other_origins_;
  std::vector<Route> routes_;
};

}  // namespace dragoman::serving
