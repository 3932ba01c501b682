// Any bytes as a safetensors file: read whole, or refused.
#include "fuzz.h"
#include "tensor/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace dragoman;
  const std::string file = fuzz::text_of(data, size);
  fuzz::read_or_refuse([&] {
    int64_t held = 0;
    for (const auto& [name, tensor] : tensor::read_safetensors(file, "model.safetensors")) {
      held += tensor.size() * static_cast<int64_t>(tensor::dtype_bytes(tensor.dtype()));
    }
    fuzz::require(held <= 2 * static_cast<int64_t>(size), "tensors hold no more than the file, F16 widened");
  });
  return 0;
}
