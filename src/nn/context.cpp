#include "nn/context.h"

namespace dragoman::nn {

uint32_t dropout_site(std::string_view path) {
  uint32_t hash = 0x811c9dc5;
  for (const char letter : path) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x01000193;
  }
  return hash;
}

}  // namespace dragoman::nn
