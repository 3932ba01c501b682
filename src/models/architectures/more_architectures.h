#pragma once

#include <span>

#include "models/architectures/architecture.h"

namespace dragoman::models {

/// The architectures that a program brings beside those of src/models/. The library's definition, alone in its source,
/// returns none. A program that defines this function itself replaces it, since the linker then never takes that object
/// from the library. So a table is extended without state that changes at run time.
std::span<const Architecture> more_architectures();

}  // namespace dragoman::models
