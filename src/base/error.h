#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace dragoman::base {

/// What went wrong, as the exit status that the program ends with.
enum class ErrorKind {
  kRuntime = 1,       ///< failed while running
  kUsage = 2,         ///< wrong command line, option or configuration
  kBadData = 65,      ///< corpus or model file that cannot be used
  kCannotWrite = 74,  ///< disk full, no permission, input/output error
};

/// The exception that reports errors to the user. The text names the operation or file, the argument or line, the
/// broken rule, the value seen, and what to try: "attention: query has width 64, key has width 32; both must be n_heads
/// * d_head". Two other exception types exist and stay inside their folders: decoding::InspectionStopped ends an
/// inspection, and serving::HttpError carries the status of a reply.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_status() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// Throws Error(kind) with the formatted text, and so never returns.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

/// Throws Error(kind) unless `condition` holds. The text is formatted only for the error.
template <typename... Args>
void check(bool condition, ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) [[unlikely]] {
    fail(kind, text, std::forward<Args>(args)...);
  }
}

/// Checks an argument of an op: its shape, type or range (ErrorKind::kRuntime).
template <typename... Args>
void check_argument(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  check(condition, ErrorKind::kRuntime, text, std::forward<Args>(args)...);
}

/// Checks an option or a configuration (ErrorKind::kUsage, exit status 2).
template <typename... Args>
void check_usage(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  check(condition, ErrorKind::kUsage, text, std::forward<Args>(args)...);
}

/// Checks that an option lies in [low, high]; NaN does not. Throws: Error(kUsage), "beam_size is 0, must be 1 to 128".
inline void check_range(const char* name, double value, double low, double high) {
  check_usage(value >= low && value <= high, "{} is {}, must be {} to {}", name, value, low, high);
}

/// Checks a corpus or a model file (ErrorKind::kBadData, exit status 65).
template <typename... Args>
void check_data(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  check(condition, ErrorKind::kBadData, text, std::forward<Args>(args)...);
}

}  // namespace dragoman::base
