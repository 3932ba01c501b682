#include "report/meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <utility>
#include <vector>

#include "base/lap.h"
#include "report/progress_line.h"
#include "report/terminal.h"

namespace dragoman::report {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";  // ECMA-48, erase in line
constexpr int64_t kBarCells = 20;

std::string bar(int64_t done, int64_t total) {
  const auto full = static_cast<size_t>(kBarCells * std::clamp<int64_t>(done, 0, total) / total);
  return "[" + std::string(full, '#') + std::string(kBarCells - full, '.') + "]";
}

double rate_of(const WorkDone& work) {
  return work.done_seconds > 0.0 ? static_cast<double>(work.done) / work.done_seconds : 0.0;
}

std::string rate_text(double rate, const std::string& unit) {
  return rate >= 10.0 ? fmt::format("{} {}/s", format_count(std::llround(rate)), unit)
                      : fmt::format("{:.2g} {}/s", rate, unit);
}

// The time left by the rate so far, less the time since `done` last grew.
std::string time_text(const WorkDone& work) {
  const double rate = rate_of(work);
  if (work.total <= 0 || rate <= 0.0) {
    return format_duration(work.seconds);
  }
  const double left = static_cast<double>(work.total - work.done) / rate - (work.seconds - work.done_seconds);
  return format_duration(std::max(left, 0.0)) + " left";
}

std::string line_of(const WorkDone& work, bool with_bar, bool with_rate) {
  std::vector<std::string> fields = {work.task};
  if (work.total > 0) {
    fields.push_back(fmt::format("{}%", 100 * std::clamp<int64_t>(work.done, 0, work.total) / work.total));
    if (with_bar) {
      fields.back() += " " + bar(work.done, work.total);
    }
    fields.push_back(format_count(work.done) + "/" + format_count(work.total) + " " + work.unit);
  } else if (work.done > 0) {
    fields.push_back(format_count(work.done) + " " + work.unit);
  }
  if (with_rate && work.done > 0 && rate_of(work) > 0.0 && !work.unit.empty()) {
    fields.push_back(rate_text(rate_of(work), work.unit));
  }
  fields.push_back(time_text(work));
  std::string line;
  for (std::string& field : fields) {
    field.erase(field.find_last_not_of(' ') + 1);
    line += (line.empty() ? "" : "  ") + field;
  }
  return line;
}

std::string with_colored_bar(const std::string& line, bool color) {
  const size_t begin = line.find('['), end = line.find(']');
  return begin == std::string::npos || end == std::string::npos
             ? line
             : line.substr(0, begin) + colored(line.substr(begin, end + 1 - begin), Color::kCyan, color) +
                   line.substr(end + 1);
}

}  // namespace

std::string format_meter(const WorkDone& work, int columns) {
  const size_t room = columns > 0 ? static_cast<size_t>(columns) : std::string::npos;
  for (const auto& [with_bar, with_rate] : {std::pair(true, true), std::pair(false, true), std::pair(false, false)}) {
    if (std::string line = line_of(work, with_bar, with_rate); line.size() <= room) {
      return line;
    }
  }
  return line_of(work, false, false).substr(0, room);
}

MeterOptions meter_options_for(int file_descriptor) {
  MeterOptions options;
  options.live = can_rewrite_lines(file_descriptor);
  options.color = shows_colors(file_descriptor);
  options.columns = [file_descriptor] { return terminal_columns(file_descriptor); };
  return options;
}

Meter::Meter(std::ostream& stream, std::string task, std::string unit, MeterOptions options)
    : stream_(stream), options_(std::move(options)) {
  work_.task = std::move(task);
  work_.unit = std::move(unit);
  if (!options_.clock) {
    options_.clock = base::steady_seconds;
  }
  began_ = options_.clock();
  if (options_.live && options_.ticks) {
    ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
  }
}

Meter::~Meter() {
  ticker_ = std::jthread();  // asks the thread to stop and waits for it
  try {
    clear();
  } catch (...) {
    // A stream that throws must not end the program from a destructor. Losing the line does no harm.
  }
}

void Meter::show(int64_t done, int64_t total) {
  const std::lock_guard lock(mutex_);
  if (done != work_.done) {
    work_.done_seconds = options_.clock() - began_;
  }
  work_.done = done;
  work_.total = total;
  is_paused_ = false;
  draw_if_due();
}

void Meter::show(std::string_view task, std::string_view unit, int64_t done, int64_t total) {
  {
    const std::lock_guard lock(mutex_);
    if (task != work_.task || unit != work_.unit) {
      erase();
      work_ = WorkDone();
      work_.task = task;
      work_.unit = unit;
      began_ = options_.clock();
    }
  }
  show(done, total);
}

void Meter::clear() {
  const std::lock_guard lock(mutex_);
  erase();
  is_paused_ = true;
}

void Meter::message(std::string_view text) {
  const std::lock_guard lock(mutex_);
  erase();
  stream_ << text << (text.ends_with('\n') ? "" : "\n") << std::flush;
}

void Meter::erase() {
  if (is_shown_) {
    stream_ << kEraseLine << std::flush;
  }
  is_shown_ = false;
}

void Meter::draw_if_due() {
  const double now = options_.clock();
  const bool is_late = now - began_ >= options_.delay_seconds;
  if (!options_.live || !is_late || is_paused_ || (is_shown_ && now - last_drawn_ < options_.interval_seconds)) {
    return;
  }
  work_.seconds = now - began_;
  const int columns = options_.columns ? options_.columns() : 0;
  // The last column stays free: a full line would wrap on some terminals and could not be rewritten.
  stream_ << kEraseLine << with_colored_bar(format_meter(work_, columns > 1 ? columns - 1 : 0), options_.color)
          << std::flush;
  is_shown_ = true;
  last_drawn_ = now;
}

void Meter::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    stopped_.wait_for(lock, stop, std::chrono::duration<double>(options_.interval_seconds), [] { return false; });
    if (!stop.stop_requested()) {
      draw_if_due();
    }
  }
}

}  // namespace dragoman::report
