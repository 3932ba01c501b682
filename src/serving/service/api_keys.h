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

/// What a key may use, in a sliding minute. 0 = no limit.
struct KeyLimits {
  int64_t requests_per_minute = 0;
  int64_t characters_per_minute = 0;
};

/// A bucket that fills by `per_minute` a minute up to as much, and starts full. Not safe for use from two threads.
class RateBucket {
 public:
  using Clock = std::chrono::steady_clock;
  explicit RateBucket(int64_t per_minute) : per_minute_(per_minute), level_(static_cast<double>(per_minute)) {}

  /// Whether `amount` may be taken. More than a full bucket may be taken from a full one, which is then in debt.
  bool has(int64_t amount, Clock::time_point now);
  void take(int64_t amount) { level_ -= static_cast<double>(amount); }

 private:
  int64_t per_minute_;
  double level_;
  Clock::time_point filled_ = Clock::now();
};

/// The keys that open the server. The file holds a line for each: the SHA-256 of the key in lower-case hexadecimal, a
/// name for people, and, if there are limits, requests and characters a minute (0 = none). Lines that begin with # say
/// nothing. The keys themselves are nowhere. Safe for use by any number of threads.
///   9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  weblate  600  2000000
class ApiKeys {
 public:
  /// Throws Error(kBadData): "keys.txt: line 3: the first word must be the SHA-256 of a key, 64 hexadecimal digits;
  /// ...".
  explicit ApiKeys(const std::filesystem::path& file);

  enum class Verdict { kGood, kUnknown, kTooMuch };
  /// Whether a request with this key and so many characters may pass; then it is counted.
  Verdict use(std::string_view key, int64_t characters, RateBucket::Clock::time_point now = RateBucket::Clock::now());
  /// Characters that passed with this key since the keys were read; 0 for an unknown one.
  int64_t characters_of(std::string_view key) const;

 private:
  struct Key {
    RateBucket requests;
    RateBucket characters;
    int64_t used_characters = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Key> keys_;  // by hash
};

}  // namespace dragoman::serving
