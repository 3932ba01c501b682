#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace dragoman::test_support {

/// Runs `action`, which must throw base::Error of this kind with a text that contains each of `parts`.
/// Returns: the text of the error.
inline std::string expect_error(base::ErrorKind kind, const std::vector<std::string>& parts,
                                const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.exit_status(), static_cast<int>(kind)) << text;
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in: " << text;
    }
    return text;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "expected base::Error, seen: " << error.what();
    return {};
  }
  ADD_FAILURE() << "expected an Error with '" << (parts.empty() ? "" : parts.front()) << "', nothing was thrown";
  return {};
}

}  // namespace dragoman::test_support
