#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "serving/http/http_server.h"
#include "serving/service/served_models.h"
#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// Everything `dragoman serve` can be told.
struct ServeOptions {
  LoadOptions load;
  Listen listen;
  HttpLimits http;
  TextLimits texts;
  int workers = 0;                                  ///< threads of each model; 0 = one a core
  std::chrono::duration<double> longest_wait{2.0};  ///< seconds of work that may wait; more is refused
  std::chrono::milliseconds request_time{30000};    ///< until an answer
  std::chrono::milliseconds drain_time{30000};      ///< for what is under way when the server is to end
  std::filesystem::path api_keys;                   ///< file of ApiKeys; empty = no key is needed
  bool allow_other_origins = false;                 ///< CORS
  /// Gets what the server says: a line without its end. Called from several threads, one at a time.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

/// Loads the models, serves until SIGTERM or SIGINT, and returns when all that was under way is answered. A second
/// signal ends the waiting. SIGHUP loads the models again, beside those that serve, and replaces them when that worked.
/// Throws Error for models that cannot be loaded and an address that cannot be listened at.
void serve(const ServeOptions& options);

}  // namespace dragoman::serving
