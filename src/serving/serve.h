#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "serving/http/http_server.h"
#include "serving/service/served_models.h"
#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// The options of `dragoman serve`.
struct ServeOptions {
  LoadOptions load;
  Listen listen;
  HttpLimits http;
  TextLimits texts;
  std::chrono::duration<double> longest_wait{2.0};  ///< seconds of work that may wait; more is refused
  std::chrono::milliseconds request_time{30000};    ///< limit for the answer to a request
  std::chrono::milliseconds drain_time{30000};      ///< limit for the requests under way when the server stops
  std::filesystem::path api_keys;                   ///< file of ApiKeys; empty = no key is needed
  std::filesystem::path glossaries;                 ///< folder of GlossaryStore; empty = no glossaries are kept
  bool allow_other_origins = false;                 ///< CORS, see OtherOrigins
  /// Called with each line of the server's log, without the line end. Threads: several threads call it, one at a time.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

/// Loads the models and serves until SIGTERM or SIGINT. Returns when all requests under way are answered; a second
/// signal cancels them. SIGHUP loads the models again beside the current ones, and replaces them if all could be
/// loaded. Models are on the device of the calling thread (tensor::DeviceScope), and so are those of a reload.
/// Throws: Error for a model that cannot be loaded and for an address at which the server cannot listen.
void serve(const ServeOptions& options);

}  // namespace dragoman::serving
