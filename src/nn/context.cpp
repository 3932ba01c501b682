#include "nn/context.h"

#include "base/hash.h"

namespace dragoman::nn {

uint32_t dropout_site(std::string_view path) {
  return base::fnv1a_32(path);
}

}  // namespace dragoman::nn
