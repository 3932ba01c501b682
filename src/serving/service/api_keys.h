#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace dragoman::serving {

/// The limits of a key in a sliding minute. 0 = no limit.
struct KeyLimits {
  int64_t requests_per_minute = 0;
  int64_t characters_per_minute = 0;
};

/// A token bucket. It holds `per_minute` at most, fills at `per_minute` a minute, and starts full.
/// Threads: not safe for use by two threads.
class RateBucket {
 public:
  using Clock = std::chrono::steady_clock;
  explicit RateBucket(int64_t per_minute) : per_minute_(per_minute), level_(static_cast<double>(per_minute)) {}

  /// Returns whether `amount` may be spent. An amount larger than the bucket may be spent from a full bucket, whose
  /// level then is negative.
  [[nodiscard]] bool has(int64_t amount, Clock::time_point now);
  void spend(int64_t amount) { level_ -= static_cast<double>(amount); }

 private:
  int64_t per_minute_;
  double level_;
  Clock::time_point filled_ = Clock::now();
};

/// The API keys of the server. The file has one line for each key: its SHA-256 in lower-case hexadecimal, a name, and
/// optionally the requests and the characters a minute (0 = no limit). Lines that begin with # are comments. The keys
/// themselves are not stored.
///   9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  weblate  600  2000000
/// Threads: safe for use by any number of threads.
class ApiKeys {
 public:
  /// Throws: Error(kBadData): "keys.txt: line 3: the first word must be the SHA-256 of a key, 64 hexadecimal digits in
  ///         lower case; ...".
  explicit ApiKeys(const std::filesystem::path& file);

  enum class Verdict { kGood, kUnknown, kTooMuch };
  /// Decides whether a request with this key and this number of characters may pass, and counts it if it may.
  [[nodiscard]] Verdict use(std::string_view key, int64_t characters,
                            RateBucket::Clock::time_point now = RateBucket::Clock::now());
  /// Returns the number of characters that passed with this key since the keys were read. 0 for an unknown key.
  [[nodiscard]] int64_t characters_of(std::string_view key) const;

 private:
  struct Key {
    RateBucket requests;
    RateBucket characters;
    int64_t used_characters = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Key> keys_;  // by SHA-256
};

}  // namespace dragoman::serving
