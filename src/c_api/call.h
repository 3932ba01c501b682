#pragma once

#include <dragoman.h>

#include <exception>
#include <utility>

#include "base/error.h"

namespace dragoman::c_api {

/// Keeps the message of the exception that is being handled for dragoman_last_error. Returns: its status. Never throws.
dragoman_status status_of_exception(std::exception_ptr error) noexcept;
/// Makes dragoman_last_error empty.
void forget_error() noexcept;

/// Runs the body of a C function. Returns: DRAGOMAN_OK, or the status of what it throws.
template <typename Body>
dragoman_status call(Body&& body) noexcept {
  forget_error();
  try {
    std::forward<Body>(body)();
    return DRAGOMAN_OK;
  } catch (...) {
    return status_of_exception(std::current_exception());
  }
}

/// Throws: Error(kUsage), "dragoman_translate: model is null".
inline void check_given(const void* argument, const char* function, const char* name) {
  base::check_usage(argument != nullptr, "{}: {} is null", function, name);
}

}  // namespace dragoman::c_api
