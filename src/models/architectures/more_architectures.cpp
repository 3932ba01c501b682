#include "models/architectures/more_architectures.h"

namespace dragoman::models {

std::span<const Architecture> more_architectures() {
  return {};
}

}  // namespace dragoman::models
