#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace dragoman::report {

/// How far long work has come.
struct WorkDone {
  std::string task;           ///< "translating"
  std::string unit;           ///< "lines"; may be empty
  int64_t done = 0;           ///< units
  int64_t total = 0;          ///< units; 0 = unknown
  double seconds = 0.0;       ///< since the task began
  double done_seconds = 0.0;  ///< since the task began, when `done` last grew; decides the rate
};

/// Returns the line of a meter in ASCII:
///   "translating  60% [############........]  12,000/20,000 lines  1,234 lines/s  6 s left"
///   "translating  12,000 lines  1,234 lines/s  10 s" without a total, and "learning a vocabulary  12 s" without
///   counts.
/// @param columns  width of the line, 0 for no limit; the bar and the rate are left out if the line is longer, then it
///                 is cut
std::string format_meter(const WorkDone& work, int columns = 0);

/// Options of a Meter. Tests replace the clock.
struct MeterOptions {
  bool live = false;              ///< false = nothing is ever shown
  bool color = false;             ///< the bar has a colour
  bool ticks = true;              ///< a thread redraws the line, so that its times go on; false = only `show` draws
  double delay_seconds = 2.0;     ///< a task that ends before is never shown
  double interval_seconds = 0.2;  ///< smallest time between two redraws
  std::function<int()> columns;   ///< width of the terminal; unset = no limit
  std::function<double()> clock;  ///< monotonic seconds; unset = std::chrono::steady_clock
};

/// Returns the options for an open file: live on a terminal that can rewrite lines.
MeterOptions meter_options_for(int file_descriptor);

/// A line on a terminal that shows how far long work has come, its rate and the time left. It appears after two seconds
/// and is erased at the end. Requires: the stream outlives this object, and while the line is shown nothing else is
/// written to the terminal but through `message` or after `clear`. Threads: any number.
class Meter {
 public:
  Meter(std::ostream& stream, std::string task, std::string unit, MeterOptions options);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// Stores how much is done. @param total  0 = unknown
  void show(int64_t done, int64_t total = 0);
  /// The same for a part of the work, whose task and unit replace those before. Another task or unit begins at zero.
  void show(std::string_view task, std::string_view unit, int64_t done, int64_t total);

  /// Erases the line. A later `show` may draw it again.
  void clear();
  /// Prints `text` as separate lines above the line.
  void message(std::string_view text);

 private:
  void draw_if_due();
  void erase();
  void tick(const std::stop_token& stop);

  std::ostream& stream_;
  MeterOptions options_;
  std::mutex mutex_;
  WorkDone work_;
  double began_ = 0.0;
  double last_drawn_ = 0.0;
  bool is_shown_ = false;
  bool is_paused_ = false;  // after `clear` the thread draws nothing before the next `show`
  std::condition_variable_any stopped_;
  std::jthread ticker_;
};

}  // namespace dragoman::report
