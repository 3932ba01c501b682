#pragma once

#include <exception>
#include <string>

namespace dragoman::decoding {

/// Returns: why something failed, for the result of one line or prompt. Requires: `failure` is not null.
std::string failure_text(const std::exception_ptr& failure);

}  // namespace dragoman::decoding
