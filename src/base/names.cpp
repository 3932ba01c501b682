#include "base/names.h"

#include <fmt/ranges.h>

#include "base/error.h"

namespace dragoman::base {

void refuse_name(const char* option, std::string_view name, const std::vector<std::string>& choices) {
  fail(ErrorKind::kUsage, "{} is \"{}\", must be one of {}", option, name, fmt::join(choices, ", "));
}

}  // namespace dragoman::base
