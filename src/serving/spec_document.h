#pragma once

#include <string_view>

namespace dragoman::serving {

/// The OpenAPI 3.0 document of the server, as JSON.
std::string_view spec_document();

}  // namespace dragoman::serving
