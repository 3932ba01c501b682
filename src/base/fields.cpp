#include "base/fields.h"

#include <algorithm>
#include <cmath>

namespace dragoman::base {

std::string Range::text() const {
  if (!limits()) {
    return "";
  }
  const std::string from = fmt::format("{}{}", above_low ? "above " : "", low);
  return std::isinf(high) ? from + (above_low ? "" : " or more")
                          : fmt::format("{}{} to {}", from, above_low ? "," : "", high);
}

std::string flag_spelling(std::string_view name) {
  std::string flag = fmt::format("--{}", name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string described(std::string_view help, std::string_view unit, const Range& range) {
  const std::string limits = range.text();
  const std::string_view comma = limits.empty() || unit.empty() ? "" : ", ";
  return limits.empty() && unit.empty() ? std::string(help) : fmt::format("{} ({}{}{})", help, unit, comma, limits);
}

}  // namespace dragoman::base
