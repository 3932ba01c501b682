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

/// The one exception type of dragoman. The text says: operation or file, argument or line, broken rule,
/// value seen, what to try. Example: "attention: query has width 64, key has width 32; both must be n_heads * d_head".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_status() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// Throws Error(kind) with the formatted text. `fail` never returns.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

/// Throws Error(kind) unless `condition` holds; the text is formatted only then.
template <typename... Args>
void check(bool condition, ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) [[unlikely]] {
    fail(kind, text, std::forward<Args>(args)...);
  }
}

/// `check` for what a caller passes to an op: wrong shapes, types, ranges (ErrorKind::kRuntime).
template <typename... Args>
void check_argument(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  check(condition, ErrorKind::kRuntime, text, std::forward<Args>(args)...);
}

/// `check` for options and configuration (ErrorKind::kUsage, exit status 2).
template <typename... Args>
void check_usage(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  check(condition, ErrorKind::kUsage, text, std::forward<Args>(args)...);
}

/// An option must lie in [low, high]; NaN does not. Throws Error(kUsage): "beam_size is 0, must be 1 to 128".
inline void check_range(const char* name, double value, double low, double high) {
  check_usage(value >= low && value <= high, "{} is {}, must be {} to {}", name, value, low, high);
}

/// `check` for corpora and model files (ErrorKind::kBadData, exit status 65).
template <typename... Args>
void check_data(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  check(condition, ErrorKind::kBadData, text, std::forward<Args>(args)...);
}

}  // namespace dragoman::base
