#pragma once

#include <functional>
#include <vector>

#include "serving/http/http_limits.h"
#include "serving/http/http_message.h"

namespace dragoman::serving {

/// The functions that the connections of a server call, and the headers that they add.
struct HttpHooks {
  Handler handle;  ///< called for each request, in the thread that runs the server
  /// Called for each answer with the request, the status, and the seconds from the last byte of the request to the
  /// answer. For a request that cannot be read the method is empty.
  std::function<void(const Request&, int status, double seconds)> answered = [](const Request&, int, double) {};
  std::vector<Header> headers = {};  ///< of every answer, also of refusals that no handler sees
};

}  // namespace dragoman::serving
