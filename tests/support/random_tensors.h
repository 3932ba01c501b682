#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "tensor/safetensors.h"

namespace dragoman::test_support {

/// Returns: a tensor of random shape, dtype and finite values.
inline tensor::Tensor random_tensor(base::Random& random) {
  using tensor::DType;
  constexpr DType kTypes[] = {DType::kFloat32, DType::kBFloat16, DType::kInt8,
                              DType::kInt32,   DType::kBool,     DType::kFloat64};
  std::vector<int64_t> dims(random.below(tensor::Shape::kMaxRank + 1));
  for (int64_t& dim : dims) {
    dim = static_cast<int64_t>(1 + random.below(6));
  }
  const DType dtype = kTypes[random.below(std::size(kTypes))];
  tensor::Tensor tensor = tensor::Tensor::empty(tensor::Shape(dims), dtype);
  auto* const bytes = static_cast<unsigned char*>(tensor.raw_data());
  for (size_t i = 0; i < static_cast<size_t>(tensor.size()) * tensor::dtype_bytes(dtype); ++i) {
    bytes[i] = static_cast<unsigned char>(random.below(dtype == DType::kBool ? 2 : 63));
  }
  return tensor;
}

/// Returns: up to seven random tensors, with names that JSON must escape.
inline tensor::NamedTensors random_tensors(uint64_t seed) {
  base::Random random(seed);
  tensor::NamedTensors tensors;
  for (uint64_t i = random.below(8); i-- > 0;) {
    tensors["layer." + std::to_string(i) + ".w\u00e9ight \"q\\"] = random_tensor(random);
  }
  return tensors;
}

/// Returns: the bytes of a contiguous tensor.
inline std::string_view bytes_of(const tensor::Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw_data()),
          static_cast<size_t>(tensor.size()) * tensor::dtype_bytes(tensor.dtype())};
}

}  // namespace dragoman::test_support
