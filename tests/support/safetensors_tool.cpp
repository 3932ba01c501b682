// The dragoman side of tests/peers/safetensors_check.py:
//   safetensors_tool write SEED FILE   writes random tensors and lists them
//   safetensors_tool read FILE         lists the tensors of a file
// One line a tensor: name, dtype, shape, SHA-256 of its bytes, separated by tabs.
#include <fmt/ranges.h>

#include <cstdlib>

#include "base/error.h"
#include "base/files.h"
#include "support/random_tensors.h"
#include "tensor/safetensors.h"

namespace {

using namespace dragoman;

void list(const tensor::NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    fmt::print("{}\t{}\t[{}]\t{}\n", name, tensor::dtype_name(tensor.dtype()), fmt::join(tensor.shape().dims(), ","),
               base::sha256_hex(test_support::bytes_of(tensor)));
  }
}

int run(int count, char** arguments) {
  const std::string command = count > 1 ? arguments[1] : "";
  if (command == "write" && count == 4) {
    const tensor::NamedTensors tensors = test_support::random_tensors(std::strtoull(arguments[2], nullptr, 10));
    base::write_file_atomic(arguments[3], tensor::make_safetensors(tensors, {{"format", "dragoman"}}).bytes());
    list(tensors);
    return 0;
  }
  if (command == "read" && count == 3) {
    list(tensor::read_safetensors(base::read_file(arguments[2]), arguments[2]));
    return 0;
  }
  fmt::print(stderr, "usage: safetensors_tool write SEED FILE | read FILE\n");
  return 2;
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    return run(argument_count, arguments);
  } catch (const base::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return error.exit_status();
  }
}
