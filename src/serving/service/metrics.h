#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman::serving {

/// A histogram of Prometheus: the number of values up to each bound. Threads: not safe for use by two threads.
class Histogram {
 public:
  /// Seconds: 1 ms to 30 s.
  static constexpr std::array<double, 14> kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                  0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 30.0};
  void add(double value);
  /// Returns the lines of name_bucket, name_sum and name_count. @param labels  "route=\"/translate\"," or empty
  [[nodiscard]] std::string text(std::string_view name, std::string_view labels) const;

 private:
  std::array<uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0.0;
};

/// The counters of requests. Their labels are routes and statuses of this server, never text from a client.
/// Threads: safe for use by any number of threads.
class Metrics {
 public:
  void add_request(const std::string& route, int status, double seconds);
  void add_queue_wait(double seconds);
  void add_first_token(double seconds);
  /// Returns the counters in Prometheus text format 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Histogram> durations_;
  Histogram queue_waits_;
  Histogram first_tokens_;
};

/// Returns one metric with these values: # HELP, # TYPE and its lines.
/// @param type  "counter" or "gauge";  @param values  labels ("" or "direction=\"source\"") and value
[[nodiscard]] std::string metric_text(std::string_view name, std::string_view help, std::string_view type,
                                      const std::vector<std::pair<std::string, double>>& values);

/// Returns `value` with backslash, quote and line end escaped, as the value of a label.
[[nodiscard]] std::string label_value(std::string_view value);

}  // namespace dragoman::serving
