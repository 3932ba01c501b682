#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <string>

namespace dragoman::serving {

/// Files that were translated and wait to be fetched, in memory. Each has a name that cannot be guessed and goes after
/// ten minutes, or earlier when newer ones need the room. Safe for use by any number of threads.
class TranslatedFiles {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMostBytes = size_t{32} << 20;
  static constexpr std::chrono::minutes kLifetime{10};

  /// Keeps a text. @return the name to fetch it by: 32 hexadecimal digits and ".txt"
  std::string keep(std::string bytes, Clock::time_point now = Clock::now());
  std::optional<std::string> find(const std::string& name, Clock::time_point now = Clock::now());

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
