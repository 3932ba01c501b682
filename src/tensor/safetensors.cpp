#include "tensor/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tensor/dtype_info.h"
#include "tensor/safetensors_header.h"
#include "tensor/transfer.h"

namespace dragoman::tensor {
namespace {

using base::check_data;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is copied as it is");

// IEEE 754 half precision; every value of it is a float.
float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t exponent = bits >> 10 & 0x1FU;
  const uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 0x1F ? 0xFFU : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

Tensor widen_half(std::string_view data, const Shape& shape) {
  Tensor tensor = Tensor::empty(shape, DType::kFloat32);
  float* const values = tensor.data<float>();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, data.data() + 2 * i, sizeof bits);
    values[i] = half_to_float(bits);
  }
  return tensor;
}

Shape shape_of(const SafetensorsEntry& entry, std::string_view file_name) {
  check_data(entry.shape.size() <= static_cast<size_t>(Shape::kMaxRank),
             "{}: tensor '{}' has {} axes, dragoman reads at most {}", file_name, entry.name, entry.shape.size(),
             Shape::kMaxRank);
  return Shape(std::vector<int64_t>(entry.shape.begin(), entry.shape.end()));
}

Tensor copied(std::string_view data, const Shape& shape, DType dtype) {
  Tensor tensor = Tensor::empty(shape, dtype);
  std::memcpy(tensor.raw_data(), data.data(), data.size());
  return tensor;
}

// `make(shape, dtype)` gives the tensor of these bytes.
template <typename Make>
Tensor read_tensor(const SafetensorsEntry& entry, std::string_view data, std::string_view file_name, Make make) {
  const Shape shape = shape_of(entry, file_name);
  if (entry.dtype == "F16") {
    return widen_half(data, shape);
  }
  const auto* const known = std::ranges::find(kDTypeTable, entry.dtype, &DTypeInfo::tag);
  check_data(known != kDTypeTable.end(),
             "{}: tensor '{}' has dtype {}, dragoman reads F32, F16, BF16, F64, I8, I32, BOOL", file_name, entry.name,
             entry.dtype);
  const bool valid_bools =
      known->dtype != DType::kBool || std::ranges::all_of(data, [](char byte) { return byte == 0 || byte == 1; });
  check_data(valid_bools, "{}: tensor '{}' holds bytes other than 0 and 1 as BOOL; the file is damaged", file_name,
             entry.name);
  return make(shape, known->dtype);
}

// Exponent bits all ones mean NaN or infinity. A whole block is tested by one sum, which vectorises.
template <typename Bits>
int64_t first_with_exponent(const void* data, int64_t size, Bits mask) {
  constexpr int64_t kBlock = 1024;
  const auto* const bytes = static_cast<const char*>(data);
  const auto is_found = [&](int64_t index) {
    Bits bits;  // the elements are no objects of type Bits: memcpy reads them without breaking aliasing rules
    std::memcpy(&bits, bytes + index * static_cast<int64_t>(sizeof bits), sizeof bits);
    return (bits & mask) == mask;
  };
  for (int64_t begin = 0; begin < size; begin += kBlock) {
    const int64_t end = std::min(size, begin + kBlock);
    Bits found = 0;
    for (int64_t i = begin; i < end; ++i) {
      found |= static_cast<Bits>(is_found(i));
    }
    for (int64_t i = begin; found != 0 && i < end; ++i) {
      if (is_found(i)) {
        return i;
      }
    }
  }
  return -1;
}

std::string value_text(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return fmt::format("{}", tensor.data<float>()[index]);
    case DType::kFloat64:
      return fmt::format("{}", tensor.data<double>()[index]);
    case DType::kBFloat16:
      return fmt::format("{}", to_float(tensor.data<BFloat16>()[index]));
    default:
      return "not finite";
  }
}

size_t bytes_of(const Tensor& tensor) {
  return static_cast<size_t>(tensor.size()) * dtype_bytes(tensor.dtype());
}

Tensor checked_for_file(const std::string& name, const Tensor& tensor, FiniteCheck finite) {
  base::check_argument(tensor.defined() && tensor.size() > 0, "safetensors: tensor '{}' is empty and cannot be written",
                       name);
  const HostScope on_host;
  Tensor dense = tensor.is_contiguous() ? to_host(tensor) : tensor.clone();
  const int64_t bad = finite == FiniteCheck::kYes ? first_non_finite(dense) : -1;
  base::check_argument(bad < 0, "safetensors: tensor '{}': element {} is {}, all values must be finite", name, bad,
                       bad < 0 ? "" : value_text(dense, bad));
  return dense;
}

SafetensorsEntry entry_for(const std::string& name, const Tensor& tensor, uint64_t begin) {
  const auto dims = tensor.shape().dims();
  return {.name = name,
          .dtype = std::string(dtype_info(tensor.dtype()).tag),
          .shape = {dims.begin(), dims.end()},
          .begin = begin,
          .end = begin + bytes_of(tensor)};
}

void check_finite(const std::string& name, const Tensor& tensor, std::string_view file_name, FiniteCheck finite) {
  const int64_t bad = finite == FiniteCheck::kYes ? first_non_finite(tensor) : -1;
  check_data(bad < 0, "{}: tensor '{}': element {} is {}, all values must be finite; take another checkpoint",
             file_name, name, bad, bad < 0 ? "" : value_text(tensor, bad));
}

// All tensors of a file; `make(bytes, where they begin in the file, shape, dtype)` gives each.
template <typename Make>
NamedTensors read_all(std::string_view file, std::string_view file_name, FiniteCheck finite, Make make) {
  const HostScope on_host;
  const SafetensorsHeader header = parse_safetensors_header(file, file_name);
  NamedTensors tensors;
  for (const SafetensorsEntry& entry : header.entries) {
    const uint64_t begin = header.data_begin + entry.begin;
    const std::string_view data = file.substr(begin, entry.end - entry.begin);
    Tensor tensor = read_tensor(entry, data, file_name,
                                [&](const Shape& shape, DType dtype) { return make(data, begin, shape, dtype); });
    check_finite(entry.name, tensor, file_name, finite);
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

}  // namespace

NamedTensors read_safetensors(std::string_view file, std::string_view file_name, FiniteCheck finite) {
  return read_all(file, file_name, finite, [](std::string_view data, uint64_t, const Shape& shape, DType dtype) {
    return copied(data, shape, dtype);
  });
}

NamedTensors view_safetensors(const Tensor& file, std::string_view file_name, FiniteCheck finite) {
  const std::span<const int8_t> bytes = file.span<int8_t>();
  return read_all({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file_name, finite,
                  [&](std::string_view, uint64_t begin, const Shape& shape, DType dtype) {
                    return file.reinterpret(static_cast<int64_t>(begin), shape, dtype);
                  });
}

SafetensorsStream::SafetensorsStream(uint64_t file_size, Read read, std::string file_name, FiniteCheck finite)
    : read_(std::move(read)), file_name_(std::move(file_name)), finite_(finite) {
  std::string head(std::min(file_size, kSafetensorsLengthBytes), '\0');
  read_(head);
  const size_t known = head.size();
  head.resize(safetensors_data_begin(head, file_size, file_name_));
  read_(std::span(head).subspan(known));
  entries_ = parse_safetensors_header(head, file_size, file_name_).entries;
}

std::optional<std::pair<std::string, Tensor>> SafetensorsStream::next() {
  if (next_ == entries_.size()) {
    return std::nullopt;
  }
  const SafetensorsEntry& entry = entries_[next_++];
  const auto bytes = static_cast<int64_t>(entry.end - entry.begin);
  const HostScope on_host;
  Tensor file_bytes = Tensor::empty({bytes}, DType::kInt8);
  const std::span<char> data(reinterpret_cast<char*>(file_bytes.data<int8_t>()), entry.end - entry.begin);
  read_(data);
  Tensor tensor = read_tensor(entry, {data.data(), data.size()}, file_name_,
                              [&](const Shape& shape, DType dtype) { return file_bytes.reinterpret(0, shape, dtype); });
  check_finite(entry.name, tensor, file_name_, finite_);
  return std::pair(entry.name, std::move(tensor));
}

std::vector<std::string_view> SafetensorsImage::parts() const {
  std::vector<std::string_view> pieces{header};
  for (const Tensor& tensor : tensors) {
    pieces.emplace_back(static_cast<const char*>(tensor.raw_data()), bytes_of(tensor));
  }
  return pieces;
}

std::string SafetensorsImage::bytes() const {
  std::string all;
  for (const std::string_view piece : parts()) {
    all += piece;
  }
  return all;
}

SafetensorsImage make_safetensors(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata,
                                  FiniteCheck finite) {
  std::vector<std::pair<std::string, Tensor>> ordered;
  for (const auto& [name, tensor] : tensors) {
    ordered.emplace_back(name, checked_for_file(name, tensor, finite));
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return dtype_bytes(a.second.dtype()) > dtype_bytes(b.second.dtype());
  });
  SafetensorsImage image;
  std::vector<SafetensorsEntry> entries;
  uint64_t begin = 0;
  for (auto& [name, tensor] : ordered) {
    entries.push_back(entry_for(name, tensor, begin));
    begin = entries.back().end;
    image.tensors.push_back(std::move(tensor));
  }
  image.header = safetensors_header_bytes(entries, metadata);
  return image;
}

int64_t first_non_finite(const Tensor& tensor) {
  const HostScope on_host;
  const Tensor dense = tensor.is_contiguous() ? to_host(tensor) : tensor.clone();
  switch (dense.dtype()) {
    case DType::kFloat32:
      return first_with_exponent<uint32_t>(dense.raw_data(), dense.size(), 0x7F800000U);
    case DType::kBFloat16:
      return first_with_exponent<uint16_t>(dense.raw_data(), dense.size(), 0x7F80U);
    case DType::kFloat64:
      return first_with_exponent<uint64_t>(dense.raw_data(), dense.size(), uint64_t{0x7FF0} << 48);
    default:
      return -1;
  }
}

}  // namespace dragoman::tensor
