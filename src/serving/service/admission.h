#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace dragoman::serving {

/// Returns the cost of a line in estimated source tokens: bytes / 4 + 2. It is known before the line is encoded.
[[nodiscard]] int64_t estimated_tokens(std::string_view line);

/// The bounds of an Admission.
struct AdmissionLimits {
  int64_t in_work;                             ///< largest cost that the workers can hold at a time
  std::chrono::duration<double> longest_wait;  ///< how much admitted work may wait
  /// The cost in work is at most what the workers do in this time; none = longest_wait.
  std::optional<std::chrono::duration<double>> work_time = {};
};

/// Decides which requests are admitted to the queue, and bounds the work that is begun.
///
/// Work. The cost in work is at most what the workers do in `work_time` at the measured speed, but at least 512 tokens.
/// With more work each line would take longer, at a slow model beyond its deadline, and memory would grow.
///
/// Admission. A request has a capacity: the cost in work, plus what the workers do in `longest_wait`. It is admitted if
/// the cost that will be done before its own end fits into the capacity. That cost is its own, plus at most as much of
/// each request present, since requests take turns (TurnQueue). So one long text does not keep short ones out.
/// A request that is not admitted is refused at once. A request is always admitted if no other one is present.
///
/// Speed. It is measured in spans of half a second in which there is enough work. The first span replaces `first_rate`.
/// Threads: safe for use by any number of threads.
class Admission {
 public:
  using Clock = std::chrono::steady_clock;

  /// How a line of a request ended. Lines that were given up do not count in the measured speed.
  enum class Outcome { kDone, kGivenUp };

  /// @param first_rate  assumed cost per second until the speed is measured; 0 = unknown: until then only `in_work`
  ///   bounds the work
  explicit Admission(const AdmissionLimits& limits, double first_rate = 0.0);

  /// The number of an admitted request.
  using Ticket = uint64_t;

  /// Admits a request of this cost. Returns: its ticket, or nothing if the request is refused.
  [[nodiscard]] std::optional<Ticket> enter(int64_t cost, Clock::time_point now = Clock::now());
  /// Removes a part of the cost of a request, which was done or given up.
  void leave(Ticket ticket, int64_t cost, Outcome outcome, Clock::time_point now = Clock::now());

  /// Returns the cost that may be in work at a time, at the measured speed.
  [[nodiscard]] int64_t in_work() const;
  /// Returns the cost of the admitted requests that is neither done nor given up.
  [[nodiscard]] int64_t inside() const;
  /// Returns the number of refused requests.
  [[nodiscard]] uint64_t refused() const;
  /// Returns the measured cost per second, or `first_rate` before the first measurement.
  [[nodiscard]] double rate() const;

 private:
  int64_t before_the_end_of(int64_t cost) const;
  int64_t in_work_now() const;
  void look_at_speed(Clock::time_point now);

  const int64_t in_work_;
  const int64_t large_cost_;
  const std::chrono::duration<double> longest_wait_;
  const std::chrono::duration<double> work_time_;
  mutable std::mutex mutex_;
  int64_t inside_ = 0;
  std::map<Ticket, int64_t> large_;  // remaining cost of each request that cost more than large_cost_
  int64_t of_large_ = 0;             // sum of large_
  Ticket next_ticket_ = 0;
  uint64_t refused_ = 0;
  double rate_;
  bool is_measured_ = false;  // rate_ is a measurement
  Clock::time_point span_begin_ = Clock::now();
  int64_t done_in_span_ = 0;
  bool is_busy_span_ = false;  // there was enough work during the whole span
};

}  // namespace dragoman::serving
