#pragma once

#include <string_view>

namespace dragoman::serving {

/// The OpenAPI 3.0 document of the server, as JSON, before its languages are filled in: a string with "x-languages" is
/// to be one of those (source-or-auto, target; in capitals as DeepL writes them).
std::string_view spec_document();

}  // namespace dragoman::serving
