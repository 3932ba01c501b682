#pragma once

#include <string>

namespace dragoman::cli {

/// Returns the English name of a language: "German" for de, "Chinese (Traditional Han)" for zh-Hant. A code without a
/// name is returned as it is.
std::string language_name(const std::string& code);

}  // namespace dragoman::cli
