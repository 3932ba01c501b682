#include "report/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace dragoman::report {
namespace {

// Parameters of SGR, ECMA-48, section 8.3.117.
int code_of(Color color) {
  switch (color) {
    case Color::kBold:
      return 1;
    case Color::kDim:
      return 2;
    case Color::kRed:
      return 31;
    case Color::kGreen:
      return 32;
    case Color::kYellow:
      return 33;
    case Color::kCyan:
      break;
  }
  return 36;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool can_rewrite_lines(int file_descriptor) {
  const std::string_view terminal = variable("TERM");
  return !terminal.empty() && terminal != "dumb" && isatty(file_descriptor) == 1;
}

bool shows_colors(int file_descriptor) {
  return variable("NO_COLOR").empty() && can_rewrite_lines(file_descriptor);
}

int terminal_columns(int file_descriptor) {
  winsize size{};
  return ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string colored(std::string_view text, Color color, bool on) {
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", code_of(color), text) : std::string(text);
}

}  // namespace dragoman::report
