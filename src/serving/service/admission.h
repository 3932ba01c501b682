#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace dragoman::serving {

/// What a line costs, in estimated source tokens: bytes / 4 + 2. Known before it is cut into pieces.
int64_t estimated_tokens(std::string_view line);

/// The bound of the queue, and of what is begun. No more is begun than the workers do in `longest_wait`, once their
/// speed is known, but 512 tokens at least: with more beside it each line would take longer, at a slow model until
/// nobody waits for it any more, and memory would grow. A request is let in if what the workers take at a time, and
/// what they do in `longest_wait` at their speed of late, is more than what will be done before its own end: itself,
/// and of each request there already as much as itself at most, since requests take turns (TranslationService). So one
/// long text does not keep short ones out. What is not let in is refused at once, which costs nobody anything; a client
/// that waits in vain does. The speed is measured while there is enough to do, in spans of half a second; the first
/// span replaces what was reckoned with before. One request is always let in when nothing else is there, whatever it
/// costs. Safe for use by any number of threads.
class Admission {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param in_work  cost that the workers take at a time, at most
  /// @param first_rate  cost a second to reckon with until the speed has been measured; 0 = none: until then the
  ///   workers take all they can hold
  Admission(int64_t in_work, std::chrono::duration<double> longest_wait, double first_rate = 0.0);

  /// Names a request that was let in.
  using Ticket = uint64_t;

  /// Counts `cost` in, if it is let in.
  std::optional<Ticket> enter(int64_t cost, Clock::time_point now = Clock::now());
  /// So much of a request is done, or given up (then it says nothing about the speed).
  void leave(Ticket ticket, int64_t cost, bool was_done, Clock::time_point now = Clock::now());

  /// Cost that is to be in work at a time, at the speed of late.
  int64_t in_work() const;
  int64_t inside() const;
  uint64_t refused() const;
  /// Cost a second, as measured of late; before, what the constructor was told.
  double rate() const;

 private:
  int64_t before_the_end_of(int64_t cost) const;
  int64_t in_work_now() const;
  void look_at_speed(Clock::time_point now);

  const int64_t in_work_;
  const int64_t large_cost_;
  const std::chrono::duration<double> longest_wait_;
  mutable std::mutex mutex_;
  int64_t inside_ = 0;
  std::map<Ticket, int64_t> large_;  // what is left of requests that cost more than large_cost_
  int64_t of_large_ = 0;             // their sum
  Ticket next_ticket_ = 0;
  uint64_t refused_ = 0;
  double rate_;
  bool is_measured_ = false;  // rate_
  Clock::time_point span_begin_ = Clock::now();
  int64_t done_in_span_ = 0;
  bool is_busy_span_ = false;  // there was enough to do in all of it
};

}  // namespace dragoman::serving
