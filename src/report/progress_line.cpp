#include "report/progress_line.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <utility>
#include <vector>

#include "base/lap.h"
#include "report/terminal.h"

namespace dragoman::report {
namespace {

constexpr std::string_view kClearToEnd = "\x1b[K";  // ECMA-48, erase in line
constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr double kLongestShown = 1e4 * kDay;  // a longer estimate is meaningless

bool is_known(double seconds) {
  return std::isfinite(seconds) && seconds >= 0.0 && seconds < kLongestShown;
}

std::string tokens_text(double tokens_per_second) {
  const bool is_countable = std::isfinite(tokens_per_second) && std::abs(tokens_per_second) < 1e15;
  const std::string number =
      is_countable ? format_count(std::llround(tokens_per_second)) : fmt::format("{}", tokens_per_second);
  return number + " tokens/s";
}

std::vector<std::string> progress_fields(const Progress& progress) {
  std::vector<std::string> fields;
  const bool is_timed = progress.max_minutes > 0.0;
  if (is_timed) {
    fields.push_back(fmt::format("minute {:.1f}/{:g}", progress.minutes, progress.max_minutes));
  }
  const std::string end = progress.max_steps > 0 && !is_timed ? "/" + format_count(progress.max_steps) : "";
  fields.push_back("step " + format_count(progress.step) + end);
  fields.push_back(fmt::format("epoch {:.2f}", progress.epoch));
  fields.push_back(fmt::format("loss {:.4f}", progress.loss));
  if (std::isfinite(progress.kl)) {
    fields.push_back(fmt::format("kl {:.4f}", progress.kl));
  }
  fields.push_back(tokens_text(progress.tokens_per_second));
  fields.push_back(fmt::format("lr {:.2e}", progress.learning_rate));
  if (is_known(progress.seconds_left)) {
    fields.push_back(format_duration(progress.seconds_left) + " left");
  }
  if (progress.skipped_updates > 0) {
    fields.push_back(format_count(progress.skipped_updates) + " skipped");
  }
  return fields;
}

}  // namespace

std::string format_duration(double seconds) {
  if (!is_known(seconds)) {
    return "unknown";
  }
  const auto total = static_cast<int64_t>(std::llround(seconds));
  if (total < kMinute) {
    return fmt::format("{} s", total);
  }
  if (total < kHour) {
    return fmt::format("{} min {:02} s", total / kMinute, total % kMinute);
  }
  if (total < kDay) {
    return fmt::format("{} h {:02} min", total / kHour, total % kHour / kMinute);
  }
  return fmt::format("{} d {:02} h", total / kDay, total % kDay / kHour);
}

std::string format_count(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string format_progress(const Progress& progress, int columns) {
  const size_t room = columns > 0 ? static_cast<size_t>(columns) : std::string::npos;
  std::string line;
  for (const std::string& field : progress_fields(progress)) {
    const std::string longer = line.empty() ? field : line + "  " + field;
    if (longer.size() > room) {
      break;
    }
    line = longer;
  }
  return line.empty() ? progress_fields(progress).front().substr(0, room) : line;
}

ProgressLineOptions progress_line_options_for(int file_descriptor) {
  ProgressLineOptions options;
  options.live = can_rewrite_lines(file_descriptor);
  options.columns = [file_descriptor] { return terminal_columns(file_descriptor); };
  return options;
}

ProgressLine::ProgressLine(std::ostream& stream, ProgressLineOptions options)
    : stream_(stream), options_(std::move(options)) {
  if (!options_.clock) {
    options_.clock = base::steady_seconds;
  }
}

ProgressLine::~ProgressLine() {
  try {
    finish();
  } catch (...) {
    // A stream that throws must not end the program from a destructor. Losing the line does no harm.
  }
}

bool ProgressLine::is_due(double now) const {
  if (!drawn_before_) {
    return true;
  }
  const double waited = now - last_drawn_;
  if (options_.live) {
    return waited >= options_.live_interval_seconds;
  }
  const bool by_step = options_.plain_every_steps > 0 && latest_.step % options_.plain_every_steps == 0;
  const bool by_time = options_.plain_interval_seconds > 0 && waited >= options_.plain_interval_seconds;
  return by_step || by_time;
}

std::string ProgressLine::text() const {
  const int columns = options_.live && options_.columns ? options_.columns() : 0;
  // The last column stays free: a full line would wrap on some terminals and could not be rewritten.
  return format_progress(latest_, columns > 1 ? columns - 1 : 0);
}

void ProgressLine::draw() {
  if (options_.live) {
    draw_live();
  } else {
    draw_plain();
  }
}

void ProgressLine::draw_live() {
  stream_ << '\r' << text() << kClearToEnd << std::flush;
  line_open_ = true;
  is_shown_ = true;
}

void ProgressLine::draw_plain() {
  stream_ << text() << '\n' << std::flush;
  is_shown_ = true;
}

void ProgressLine::update(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  const bool is_repeat = has_state_ && is_shown_ && progress.step == latest_.step;
  latest_ = progress;
  has_state_ = true;
  is_shown_ = is_repeat && !options_.live;  // a plain line is written once a step
  const double now = options_.clock();
  if (is_shown_ || !is_due(now)) {
    return;
  }
  draw();
  drawn_before_ = true;
  last_drawn_ = now;
}

void ProgressLine::message(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (line_open_) {
    stream_ << '\r' << kClearToEnd;
  }
  stream_ << text;
  if (!text.ends_with('\n')) {
    stream_ << '\n';
  }
  if (line_open_) {
    draw_live();
  }
  stream_ << std::flush;
}

void ProgressLine::finish() {
  const std::lock_guard lock(mutex_);
  if (has_state_ && !is_shown_) {
    draw();
  }
  if (line_open_) {
    stream_ << '\n' << std::flush;
  }
  line_open_ = false;
  has_state_ = false;
  drawn_before_ = false;
}

}  // namespace dragoman::report
