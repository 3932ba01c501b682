#pragma once

#include <cstddef>

#include "serving/text/sentences.h"

namespace dragoman::serving {

/// The limits of one request, and the way in which its texts are cut.
struct TextLimits {
  size_t texts = 128;        ///< in one request
  size_t characters = 5000;  ///< of each text
  size_t alternatives = 16;  ///< of each text
  Sentences sentences = Sentences::kApart;
};

}  // namespace dragoman::serving
