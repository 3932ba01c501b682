#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

namespace dragoman::report {

/// Where a run stands. NaN and infinity are shown as such, so that a person sees them.
struct Progress {
  int64_t step = 0;                ///< updates done
  int64_t max_steps = 0;           ///< where the run ends; 0 = open end, not shown
  double epoch = 0.0;              ///< passes over the data, with fraction
  double loss = 0.0;               ///< nats per target token
  double tokens_per_second = 0.0;  ///< target tokens
  double learning_rate = 0.0;
  double seconds_left = -1.0;   ///< estimate; negative or not finite = unknown, not shown
  int64_t skipped_updates = 0;  ///< with non-finite gradients; shown when above 0
  /// R-Drop: divergence of the two passes, nats per target token; NaN = not shown
  double kl = std::numeric_limits<double>::quiet_NaN();
};

/// A stretch of time for people, at most two units, the smaller one with fixed width:
/// "45 s", "3 min 20 s", "2 h 05 min", "3 d 04 h". Negative or not finite: "unknown".
std::string format_duration(double seconds);

/// An integer with commas between groups of three: 12345 -> "12,345".
std::string format_count(int64_t value);

/// The progress line, without line end:
///   "step 1,200/100,000  epoch 3.25  loss 3.4121  12,345 tokens/s  lr 4.20e-04  2 h 05 min left"
/// @param columns  room for the line: fields are left out from the right until it fits; a first field that is still
///                 too long is cut. 0 = no limit. A pure function; the text is ASCII.
std::string format_progress(const Progress& progress, int columns = 0);

/// How a ProgressLine shows itself. The functions let tests stand in for clock and terminal.
struct ProgressLineOptions {
  bool live = false;                   ///< rewrite one line in place; false = plain lines
  double live_interval_seconds = 0.2;  ///< at most one redraw in so many seconds
  double plain_interval_seconds = 30;  ///< plain lines: at most one in so many seconds; 0 = steps alone decide
  int64_t plain_every_steps = 0;       ///< plain lines: one at each multiple of so many steps; 0 = time alone decides
  std::function<int()> columns;        ///< width of the terminal; unset = no limit
  std::function<double()> clock;       ///< seconds, never going back; unset = std::chrono::steady_clock
};

/// Options for what `file_descriptor` is: live on a terminal that can rewrite a line (TERM is set and not "dumb").
ProgressLineOptions progress_line_options_for(int file_descriptor);

/// One live line on a terminal, plain lines elsewhere. Other messages go through `message`, which prints them above
/// the live line. Thread safe. The stream must outlive it; the destructor leaves the last state on a line of its own.
class ProgressLine {
 public:
  ProgressLine(std::ostream& stream, ProgressLineOptions options);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Takes the newest state; draws it when the time or step has come. The first one is drawn at once.
  void update(const Progress& progress);

  /// Prints `text` as a line (or lines) of its own; the live line is drawn again below it.
  void message(std::string_view text);

  /// Draws the last state if it was not shown yet and ends the live line. Later updates start a new one.
  void finish();

 private:
  bool is_due(double now) const;
  void draw_live();
  void draw_plain();
  std::string text() const;

  std::ostream& stream_;
  ProgressLineOptions options_;
  std::mutex mutex_;
  Progress latest_;
  bool has_state_ = false;  ///< an update came since the start or the last finish
  bool is_shown_ = false;   ///< latest_ is what the reader sees
  bool line_open_ = false;  ///< the cursor stands in the live line
  bool drawn_before_ = false;
  double last_drawn_ = 0.0;
};

}  // namespace dragoman::report
