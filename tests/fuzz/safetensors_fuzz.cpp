// Any bytes as a safetensors file: read whole, or refused; the same when it is read as it comes.
#include "fuzz.h"
#include "tensor/safetensors.h"

namespace {

using namespace dragoman;

tensor::NamedTensors read_as_it_comes(const std::string& file) {
  size_t at = 0;
  const auto read = [&](std::span<char> to) {
    fuzz::require(at + to.size() <= file.size(), "no more is asked for than there is");
    file.copy(to.data(), to.size(), at);
    at += to.size();
  };
  tensor::SafetensorsStream stream(file.size(), read, "model.safetensors");
  tensor::NamedTensors tensors;
  while (auto named = stream.next()) {
    tensors.insert(std::move(*named));
  }
  fuzz::require(at == file.size(), "all of it is read");
  return tensors;
}

// How many tensors, or -1 when the file is refused.
template <class Read>
int64_t count_of(Read read) {
  int64_t count = -1;
  fuzz::read_or_refuse([&] { count = static_cast<int64_t>(read().size()); });
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const std::string file = fuzz::text_of(data, size);
  const auto whole = [&] {
    tensor::NamedTensors tensors = tensor::read_safetensors(file, "model.safetensors");
    int64_t held = 0;
    for (const auto& [name, tensor] : tensors) {
      held += tensor.size() * static_cast<int64_t>(tensor::dtype_bytes(tensor.dtype()));
    }
    fuzz::require(held <= 2 * static_cast<int64_t>(size), "tensors hold no more than the file, F16 widened");
    return tensors;
  };
  fuzz::require(count_of(whole) == count_of([&] { return read_as_it_comes(file); }),
                "the same when it is read as it comes");
  return 0;
}
