#include "interop/gguf_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

using tensor::Tensor;

constexpr uint32_t kVersion = 3;
constexpr uint64_t kAlignment = 32;
constexpr size_t kBlock = 32;  // elements of a block of q8_0

// Types of values.
constexpr uint32_t kUint32 = 4, kInt32 = 5, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9;
// Types of tensors.
constexpr uint32_t kTensorF32 = 0, kTensorF16 = 1, kTensorQ8 = 8;

static_assert(std::endian::native == std::endian::little, "GGUF is little-endian and is written as it is");

template <typename Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_text(std::string& bytes, std::string_view text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes += text;
}

uint64_t aligned(uint64_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

uint16_t checked_half(float value, const std::string& name) {
  const uint16_t half = to_half(value);
  base::check_data((half & 0x7C00U) != 0x7C00U,
                   "tensor '{}' has the value {}, which is beyond half precision; choose f32", name, value);
  return half;
}

std::string as_halves(std::span<const float> values, const std::string& name) {
  std::string bytes;
  bytes.reserve(2 * values.size());
  for (const float value : values) {
    append(bytes, checked_half(value, name));
  }
  return bytes;
}

std::string as_blocks(std::span<const float> values, const std::string& name) {
  constexpr float kMost = 127.0F;
  std::string bytes;
  bytes.reserve(values.size() / kBlock * (kBlock + 2));
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::span<const float> block = values.subspan(begin, kBlock);
    float largest = 0.0F;
    for (const float value : block) {
      largest = std::max(largest, std::abs(value));
    }
    const float scale = largest / kMost;
    append(bytes, checked_half(scale, name));
    for (const float value : block) {
      append(bytes, static_cast<int8_t>(scale > 0.0F ? std::round(value / scale) : 0.0F));
    }
  }
  return bytes;
}

}  // namespace

uint16_t to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  constexpr uint32_t kLeastNormal = 0x38800000U, kInfinite = 0x477FF000U;  // 2^-14; 65520, which rounds to 2^16
  if (magnitude >= kInfinite) {
    return static_cast<uint16_t>(sign | (magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U));
  }
  if (magnitude < kLeastNormal) {  // a subnormal is a multiple of 2^-24
    const float steps = std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24F);
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(steps));
  }
  const uint32_t odd = magnitude >> 13 & 1U;
  const uint32_t rounded = magnitude + 0xFFFU + odd - 0x38000000U;  // the exponent counts from -15
  return static_cast<uint16_t>(sign | rounded >> 13);
}

void GgufFile::begin_value(const std::string& key, uint32_t type) {
  append_text(values_, key);
  append(values_, type);
  ++value_count_;
}

void GgufFile::add(const std::string& key, std::string_view text) {
  begin_value(key, kString);
  append_text(values_, text);
}

void GgufFile::add(const std::string& key, uint32_t number) {
  begin_value(key, kUint32);
  append(values_, number);
}

void GgufFile::add(const std::string& key, float number) {
  begin_value(key, kFloat32);
  append(values_, number);
}

void GgufFile::add(const std::string& key, bool flag) {
  begin_value(key, kBool);
  append(values_, static_cast<uint8_t>(flag));
}

void GgufFile::add(const std::string& key, const std::vector<std::string>& texts) {
  begin_value(key, kArray);
  append(values_, kString);
  append(values_, static_cast<uint64_t>(texts.size()));
  for (const std::string& text : texts) {
    append_text(values_, text);
  }
}

void GgufFile::add(const std::string& key, const std::vector<int32_t>& numbers) {
  begin_value(key, kArray);
  append(values_, kInt32);
  append(values_, static_cast<uint64_t>(numbers.size()));
  for (const int32_t number : numbers) {
    append(values_, number);
  }
}

void GgufFile::add(const std::string& key, const std::vector<float>& numbers) {
  begin_value(key, kArray);
  append(values_, kFloat32);
  append(values_, static_cast<uint64_t>(numbers.size()));
  for (const float number : numbers) {
    append(values_, number);
  }
}

void GgufFile::add_tensor(const std::string& name, const Tensor& tensor, GgufType type) {
  const auto dims = tensor.shape().dims();
  Entry entry{.name = name, .dims = {dims.rbegin(), dims.rend()}, .type = kTensorF32, .data = {}};
  const tensor::HostView<float> values(tensor);
  if (tensor.rank() == 1 || type == GgufType::kF32) {
    entry.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  } else if (type == GgufType::kQ8_0 && entry.dims.front() % kBlock == 0) {
    entry.type = kTensorQ8;
    entry.data = as_blocks(values, name);
  } else {
    entry.type = kTensorF16;
    entry.data = as_halves(values, name);
  }
  tensors_.push_back(std::move(entry));
}

std::string GgufFile::head() const {
  std::string bytes = "GGUF";
  append(bytes, kVersion);
  append(bytes, static_cast<uint64_t>(tensors_.size()));
  append(bytes, value_count_);
  bytes += values_;
  uint64_t offset = 0;
  for (const Entry& tensor : tensors_) {
    append_text(bytes, tensor.name);
    append(bytes, static_cast<uint32_t>(tensor.dims.size()));
    for (const uint64_t dim : tensor.dims) {
      append(bytes, dim);
    }
    append(bytes, tensor.type);
    append(bytes, offset);
    offset += aligned(tensor.data.size());
  }
  return bytes;
}

void GgufFile::write(const std::filesystem::path& path) const {
  base::FileWriter writer(path);
  const auto add_padded = [&](std::string_view bytes) {
    writer.add(bytes);
    writer.add(std::string(aligned(bytes.size()) - bytes.size(), '\0'));
  };
  add_padded(head());
  for (const Entry& tensor : tensors_) {
    add_padded(tensor.data);
  }
  writer.commit();
}

}  // namespace dragoman::interop
