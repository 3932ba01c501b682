#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "serving/http/http_server.h"

namespace dragoman::serving {

/// The options of a server that shows a training run.
struct WatchOptions {
  std::filesystem::path folder;  ///< model folder of the run; it may come into being later
  Listen listen{.port = 5001};   ///< 127.0.0.1 by default: the samples of a run are its user's text
};

/// Serves the page with the training run of a folder, in a thread of its own, until it is destroyed. It only reads the
/// files of the folder. Signals are left to the process.
class RunWatcher {
 public:
  /// Listens before it returns. Throws: as HttpServer.
  explicit RunWatcher(const WatchOptions& options);
  ~RunWatcher();
  RunWatcher(const RunWatcher&) = delete;
  RunWatcher& operator=(const RunWatcher&) = delete;

  /// Returns "http://127.0.0.1:5001".
  [[nodiscard]] std::string address() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Serves the page with the training run of a folder until SIGTERM or SIGINT. `say` is called with the address once
/// the server listens. Throws: as HttpServer.
void watch(const WatchOptions& options, const std::function<void(const std::string& address)>& say);

}  // namespace dragoman::serving
