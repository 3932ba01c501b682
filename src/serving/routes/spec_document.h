#pragma once

#include <string_view>

namespace dragoman::serving {

/// Returns the OpenAPI 3.0 document of the server as JSON, without the languages. A string schema with "x-languages"
/// gets the served languages as its values: source-or-auto or target, in capitals as DeepL writes them.
[[nodiscard]] std::string_view spec_document();

}  // namespace dragoman::serving
