#pragma once

#include <cstddef>

namespace dragoman::serving {

/// What one request may ask for.
struct TextLimits {
  size_t texts = 128;        ///< in one request
  size_t characters = 5000;  ///< of each text
  size_t alternatives = 16;  ///< of each text
};

}  // namespace dragoman::serving
