#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include "base/fields.h"

namespace dragoman::report {

/// The state of a run. NaN and infinity are shown as such.
struct Progress {
  int64_t step = 0;                ///< number of updates
  int64_t max_steps = 0;           ///< last step of the run; 0 = unlimited, not shown
  double epoch = 0.0;              ///< number of passes over the data, with a fraction
  double loss = 0.0;               ///< nats per target token
  double tokens_per_second = 0.0;  ///< target tokens
  double learning_rate = 0.0;
  double seconds_left = -1.0;   ///< estimate; negative or not finite = unknown, not shown
  int64_t skipped_updates = 0;  ///< with non-finite gradients; shown when above 0
  /// Divergence of the two passes of R-Drop or SimCut in nats per target token; NaN is not shown.
  double kl = std::numeric_limits<double>::quiet_NaN();
  double minutes = 0.0;      ///< of the time limit that ends the run first
  double max_minutes = 0.0;  ///< this limit, which is then shown in place of max_steps; 0 = no limit on time

  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit) {
    using base::Field;
    using P = Progress;
    visit(Field("step", &P::step, "Number of updates"));
    visit(Field("max_steps", &P::max_steps, "Last step of the run; 0 = unlimited"));
    visit(Field("epoch", &P::epoch, "Passes over the text"));
    visit(Field("loss", &P::loss, "Loss", {}, "nats per target token"));
    visit(Field("tokens_per_second", &P::tokens_per_second, "Speed", {}, "target tokens per second"));
    visit(Field("learning_rate", &P::learning_rate, "Learning rate"));
    visit(Field("seconds_left", &P::seconds_left, "Estimate of the time that is left; negative = unknown", {},
                "seconds"));
    visit(Field("skipped_updates", &P::skipped_updates, "Updates with gradients that were not finite"));
    visit(Field("kl", &P::kl, "Divergence of the two passes of R-Drop or SimCut", {}, "nats per target token"));
    visit(Field("minutes", &P::minutes, "Minutes of the time limit that ends the run first"));
    visit(Field("max_minutes", &P::max_minutes, "The time limit; 0 = none", {}, "minutes"));
  }
};

/// Returns a duration in at most two units, the smaller one with fixed width: "45 s", "3 min 20 s", "2 h 05 min",
/// "3 d 04 h". A duration that is negative or not finite is "unknown".
std::string format_duration(double seconds);

/// Returns an integer with commas between groups of three digits: 12345 -> "12,345".
std::string format_count(int64_t value);

/// Returns the progress line in ASCII, without a line end:
///   "step 1,200/100,000  epoch 3.25  loss 3.4121  12,345 tokens/s  lr 4.20e-04  2 h 05 min left"
/// With a limit on time: "minute 3.2/10  step 1,200  epoch 3.25 ..."
/// @param columns  width of the line, 0 for no limit. Fields are left out from the right until the line fits; a first
/// field
///                 that is still too long is cut.
std::string format_progress(const Progress& progress, int columns = 0);

/// Options of a ProgressLine. Tests replace the clock and the terminal by functions.
struct ProgressLineOptions {
  bool live = false;                   ///< rewrite one line in place; false = plain lines
  double live_interval_seconds = 0.2;  ///< smallest time between two redraws
  double plain_interval_seconds = 30;  ///< smallest time between two plain lines; 0 = steps decide
  int64_t plain_every_steps = 0;       ///< a plain line at each multiple; 0 = time decides
  std::function<int()> columns;        ///< width of the terminal; unset = no limit
  std::function<double()> clock;       ///< monotonic seconds; unset = std::chrono::steady_clock
};

/// Returns the options for an open file: live on a terminal that can rewrite a line, where TERM is set and not "dumb".
ProgressLineOptions progress_line_options_for(int file_descriptor);

/// A display of the progress: one live line on a terminal, otherwise plain lines. `message` prints other messages above
/// the live line. The destructor prints the last state as a separate line. Requires: the stream outlives this object.
/// Threads: any number.
class ProgressLine {
 public:
  ProgressLine(std::ostream& stream, ProgressLineOptions options);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Stores the newest state and draws it if a redraw is due. The first state is drawn at once.
  void update(const Progress& progress);

  /// Prints `text` as separate lines and redraws the live line below them.
  void message(std::string_view text);

  /// Draws the last state, unless it is already shown, and ends the live line. A later update starts a new line.
  void finish();

 private:
  bool is_due(double now) const;
  void draw();
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
