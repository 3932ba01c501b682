#include "serving/service/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman::serving {
namespace {

std::string head_of(std::string_view name, std::string_view help, std::string_view type) {
  return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

void Histogram::add(double value) {
  const auto* const bound = std::ranges::lower_bound(kBounds, value);
  ++counts_[static_cast<size_t>(bound - kBounds.begin())];
  sum_ += value;
}

std::string Histogram::text(std::string_view name, std::string_view labels) const {
  std::string lines;
  uint64_t below = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    below += counts_[i];
    lines += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, labels, kBounds[i], below);
  }
  below += counts_.back();
  lines += fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", name, labels, below);
  const std::string braces =
      labels.empty() ? std::string() : fmt::format("{{{}}}", labels.substr(0, labels.size() - 1));
  return lines + fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, braces, sum_, name, braces, below);
}

void Metrics::add_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  durations_[route].add(seconds);
}

void Metrics::add_queue_wait(double seconds) {
  const std::lock_guard lock(mutex_);
  queue_waits_.add(seconds);
}

void Metrics::add_first_token(double seconds) {
  const std::lock_guard lock(mutex_);
  first_tokens_.add(seconds);
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string text = head_of("dragoman_requests_total", "Requests answered.", "counter");
  for (const auto& [key, count] : requests_) {
    text += fmt::format("dragoman_requests_total{{route=\"{}\",code=\"{}\"}} {}\n", key.first, key.second, count);
  }
  text += head_of("dragoman_request_duration_seconds", "Seconds from the last byte of a request to its answer.",
                  "histogram");
  for (const auto& [route, durations] : durations_) {
    text += durations.text("dragoman_request_duration_seconds", fmt::format("route=\"{}\",", route));
  }
  text += head_of("dragoman_queue_wait_seconds", "Seconds until the first part of a request was begun.", "histogram");
  text += queue_waits_.text("dragoman_queue_wait_seconds", "");
  text += head_of("dragoman_first_token_seconds", "Seconds until the first token of a completion.", "histogram");
  return text + first_tokens_.text("dragoman_first_token_seconds", "");
}

std::string metric_text(std::string_view name, std::string_view help, std::string_view type,
                        const std::vector<std::pair<std::string, double>>& values) {
  std::string text = head_of(name, help, type);
  for (const auto& [labels, value] : values) {
    text += labels.empty() ? fmt::format("{} {}\n", name, value) : fmt::format("{}{{{}}} {}\n", name, labels, value);
  }
  return text;
}

std::string label_value(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    escaped += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
  }
  return escaped;
}

}  // namespace dragoman::serving
