#pragma once

#include <functional>

#include "serving/http/http_limits.h"
#include "serving/http/http_message.h"

namespace dragoman::serving {

/// What a connection leads to, beside the routes.
struct HttpHooks {
  Handler handle;  ///< called for every request, in the thread that runs the server
  /// Told of every answer: the request, its status, and the seconds from its last byte to its answer. Requests that
  /// cannot be read are told with an empty method.
  std::function<void(const Request&, int status, double seconds)> answered = [](const Request&, int, double) {};
};

}  // namespace dragoman::serving
