#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <string>

namespace dragoman::serving {

/// Translated files in memory that wait for their download. Each has a name that cannot be guessed. A file is removed
/// after ten minutes, or earlier if newer files need the memory.
/// Threads: safe for use by any number of threads.
class TranslatedFiles {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMostBytes = size_t{32} << 20;
  static constexpr std::chrono::minutes kLifetime{10};

  /// Keeps a file. Returns: its name, 32 hexadecimal digits and ".txt".
  [[nodiscard]] std::string keep(std::string bytes, Clock::time_point now = Clock::now());
  /// Returns the bytes of a file, or nothing if there is none of this name any more.
  [[nodiscard]] std::optional<std::string> find(const std::string& name, Clock::time_point now = Clock::now());

 private:
  struct File {
    std::string name;
    std::string bytes;
    Clock::time_point until;
  };

  void drop_old(Clock::time_point now);

  std::mutex mutex_;
  std::list<File> files_;  // oldest first
  size_t bytes_ = 0;
};

}  // namespace dragoman::serving
