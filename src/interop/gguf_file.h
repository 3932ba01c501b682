#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "tensor/tensor.h"

namespace dragoman::interop {

/// How a GGUF file stores the elements of matrices. Vectors are float32 in all of them.
enum class GgufType {
  kF32,
  kF16,   ///< IEEE 754 half precision, rounded to nearest even
  kQ8_0,  ///< blocks of 32: a half-precision scale, max |x| / 127, and 32 int8
};

constexpr base::Names<GgufType> names_of(GgufType) {
  return {"gguf_type", {{GgufType::kF32, "f32"}, {GgufType::kF16, "f16"}, {GgufType::kQ8_0, "q8_0"}}};
}

/// A GGUF file in memory, the format of llama.cpp: keys with typed values, then tensors.
/// Source: docs/gguf.md of ggml, version 3.
class GgufFile {
 public:
  void add(const std::string& key, std::string_view text);
  void add(const std::string& key, uint32_t number);
  void add(const std::string& key, float number);
  void add(const std::string& key, bool flag);
  void add(const std::string& key, const std::vector<std::string>& texts);
  void add(const std::string& key, const std::vector<int32_t>& numbers);
  void add(const std::string& key, const std::vector<float>& numbers);

  /// Adds a float32 tensor. A matrix is stored as `type`, but as kF16 if kQ8_0 does not fit: its rows must be multiples
  /// of 32. @param tensor  [Dout, Din] or [D]
  /// Throws: Error(kBadData) for a value beyond half precision. @param type  of matrices
  void add_tensor(const std::string& name, const tensor::Tensor& tensor, GgufType type);

  /// Writes the file. After an error there is none. Throws: Error(kCannotWrite).
  void write(const std::filesystem::path& path) const;

 private:
  struct Entry {
    std::string name;
    std::vector<uint64_t> dims;  // the fastest first
    uint32_t type = 0;
    std::string data;
  };

  void begin_value(const std::string& key, uint32_t type);
  std::string head() const;

  std::string values_;
  uint64_t value_count_ = 0;
  std::vector<Entry> tensors_;
};

/// Returns the bits of the nearest half-precision number, ties to even. Values beyond the range become infinite.
[[nodiscard]] uint16_t to_half(float value);

}  // namespace dragoman::interop
