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

/// Counts of values up to each of some bounds, as Prometheus has them. Not safe for use from two threads.
class Histogram {
 public:
  /// Seconds: 1 ms to 30 s.
  static constexpr std::array<double, 14> kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                  0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 30.0};
  void add(double value);
  /// The lines of name_bucket, name_sum and name_count. @param labels  "route=\"/translate\"," or empty
  std::string text(std::string_view name, std::string_view labels) const;

 private:
  std::array<uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0.0;
};

/// What is counted about requests. Labels are routes and statuses of this server, never what a client sent. Safe for
/// use by any number of threads.
class Metrics {
 public:
  void add_request(const std::string& route, int status, double seconds);
  void add_queue_wait(double seconds);
  /// Prometheus text format 0.0.4 of these.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Histogram> durations_;
  Histogram queue_waits_;
};

/// One metric without a history of its own: # HELP, # TYPE and its lines. @param type  "counter" or "gauge"
/// @param values  labels ("" or "direction=\"source\"") and value
std::string metric_text(std::string_view name, std::string_view help, std::string_view type,
                        const std::vector<std::pair<std::string, double>>& values);

/// `value` as the value of a label: backslash, quote and line end escaped.
std::string label_value(std::string_view value);

}  // namespace dragoman::serving
