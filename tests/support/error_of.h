#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace dragoman::test_support {

/// Returns: the text of the base::Error that `action` throws; "no error" if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace dragoman::test_support
