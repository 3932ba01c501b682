#include "tensor/safetensors_header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman::tensor {
namespace {

using base::check_data;
using nlohmann::json;

constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxAxes = 16;
constexpr uint64_t kMaxInteger = (uint64_t{1} << 48) - 1;
constexpr const char* kMetadataKey = "__metadata__";
constexpr const char* kAdvice = "the file is damaged or hostile";
constexpr base::JsonLimits kHeaderLimits{.max_bytes = kMaxSafetensorsHeaderBytes, .max_depth = 3};

// Bits of one element of every dtype of the format; dragoman computes with some of them only.
constexpr std::array<std::pair<std::string_view, uint64_t>, 21> kDTypeBits{{
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
    {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
    {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64},  {"F8_E4M3FNUZ", 8},
}};

// The file and tensor that a message is about.
struct Place {
  std::string_view file;
  std::string_view tensor;
  std::string to_string() const { return fmt::format("{}: tensor '{}'", file, tensor); }
};

uint64_t little_endian_u64(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = kSafetensorsLengthBytes; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// The JSON text, once its length is known to lie in the file.
std::string_view header_text(std::string_view head, uint64_t file_size, std::string_view file_name) {
  const uint64_t begin = safetensors_data_begin(head, file_size, file_name);
  std::string_view text = head.substr(kSafetensorsLengthBytes, begin - kSafetensorsLengthBytes);
  check_data(text.starts_with('{'), "{}: header does not begin with '{{'; {}", file_name, kAdvice);
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  check_data(text.ends_with('}'), "{}: header ends in something else than '}}' and spaces; {}", file_name, kAdvice);
  return text;
}

bool is_printable(std::string_view name) {
  const std::u32string points = base::decode_utf8(name);
  return std::none_of(points.begin(), points.end(),
                      [](char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E); });
}

void check_name(std::string_view name, std::string_view file_name) {
  check_data(!name.empty() && name.size() <= kMaxNameBytes, "{}: a tensor's name has {} bytes, must have 1 to {}; {}",
             file_name, name.size(), kMaxNameBytes, kAdvice);
  check_data(is_printable(name), "{}: a tensor's name holds control characters; {}", file_name, kAdvice);
}

std::vector<uint64_t> integers(const json& list, const char* field, const Place& place) {
  check_data(list.is_array() && list.size() <= kMaxAxes, "{}: {} must be a list of at most {} integers; {}",
             place.to_string(), field, kMaxAxes, kAdvice);
  std::vector<uint64_t> values;
  for (const json& item : list) {
    check_data(item.is_number_unsigned() && item.get<uint64_t>() <= kMaxInteger,
               "{}: {} holds {}, must be an integer from 0 to 2^48 - 1; {}", place.to_string(), field,
               base::dump_json(item).substr(0, 40), kAdvice);
    values.push_back(item.get<uint64_t>());
  }
  return values;
}

uint64_t dtype_bits(const std::string& dtype, const Place& place) {
  const auto* const found =
      std::find_if(kDTypeBits.begin(), kDTypeBits.end(), [&](const auto& known) { return known.first == dtype; });
  check_data(found != kDTypeBits.end(), "{}: dtype '{}' is not one of the format's; {}", place.to_string(),
             dtype.substr(0, 40), kAdvice);
  return found->second;
}

// Bytes that shape and dtype ask for; products are checked, so no file can make them wrap around.
uint64_t bytes_of(const SafetensorsEntry& entry, const Place& place) {
  uint64_t bits = dtype_bits(entry.dtype, place);
  for (const uint64_t axis : entry.shape) {
    check_data(axis > 0, "{}: shape [{}] has no elements; empty tensors are refused", place.to_string(),
               fmt::join(entry.shape, ", "));
    const bool overflows = __builtin_mul_overflow(bits, axis, &bits);
    check_data(!overflows, "{}: shape [{}] of {} overflows 64 bits; {}", place.to_string(),
               fmt::join(entry.shape, ", "), entry.dtype, kAdvice);
  }
  check_data(bits % 8 == 0, "{}: shape [{}] of {} is not a whole number of bytes; {}", place.to_string(),
             fmt::join(entry.shape, ", "), entry.dtype, kAdvice);
  return bits / 8;
}

SafetensorsEntry entry_from(const std::string& name, const json& tree, std::string_view file_name) {
  const Place place{.file = file_name, .tensor = name};
  const bool has_fields = tree.is_object() && tree.size() == 3 && tree.contains("dtype") && tree.contains("shape") &&
                          tree.contains("data_offsets") && tree["dtype"].is_string();
  check_data(has_fields, "{}: must hold exactly dtype, shape and data_offsets; {}", place.to_string(), kAdvice);
  const std::vector<uint64_t> offsets = integers(tree["data_offsets"], "data_offsets", place);
  check_data(offsets.size() == 2 && offsets[0] <= offsets[1], "{}: data_offsets must be [begin, end], begin <= end; {}",
             place.to_string(), kAdvice);
  SafetensorsEntry entry{.name = name,
                         .dtype = tree["dtype"].get<std::string>(),
                         .shape = integers(tree["shape"], "shape", place),
                         .begin = offsets[0],
                         .end = offsets[1]};
  const uint64_t bytes = bytes_of(entry, place);
  check_data(bytes == entry.end - entry.begin, "{}: shape [{}] of {} is {} bytes, data_offsets span {}; {}",
             place.to_string(), fmt::join(entry.shape, ", "), entry.dtype, bytes, entry.end - entry.begin, kAdvice);
  return entry;
}

std::map<std::string, std::string> metadata_from(const json& tree, std::string_view file_name) {
  check_data(tree.is_object(), "{}: {} must be an object of strings; {}", file_name, kMetadataKey, kAdvice);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : tree.items()) {
    check_data(value.is_string(), "{}: {} must map strings to strings; {}", file_name, kMetadataKey, kAdvice);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// First begin 0, each begin the end before it, last end the end of the file: no overlap, no hole, nothing behind.
void check_tiling(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes, std::string_view file_name) {
  uint64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    check_data(entry.begin == end, "{}: tensor '{}': data begins at {}, the tensor before it ends at {}; {}", file_name,
               entry.name, entry.begin, end, kAdvice);
    end = entry.end;
  }
  check_data(end == data_bytes, "{}: the tensors need {} bytes of data, the file holds {}; {}", file_name, end,
             data_bytes, kAdvice);
}

}  // namespace

uint64_t safetensors_data_begin(std::string_view first_bytes, uint64_t file_size, std::string_view file_name) {
  check_data(file_size >= kSafetensorsLengthBytes, "{}: has {} bytes, a safetensors file has at least 8; {}", file_name,
             file_size, kAdvice);
  const uint64_t length = little_endian_u64(first_bytes);
  check_data(length <= kMaxSafetensorsHeaderBytes, "{}: header length is {}, at most {} is allowed; {}", file_name,
             length, kMaxSafetensorsHeaderBytes, kAdvice);
  check_data(length <= file_size - kSafetensorsLengthBytes,
             "{}: header length is {}, the file holds {} bytes after it; {}", file_name, length,
             file_size - kSafetensorsLengthBytes, kAdvice);
  return kSafetensorsLengthBytes + length;
}

SafetensorsHeader parse_safetensors_header(std::string_view file, std::string_view file_name) {
  return parse_safetensors_header(file, file.size(), file_name);
}

SafetensorsHeader parse_safetensors_header(std::string_view head, uint64_t file_size, std::string_view file_name) {
  const std::string_view text = header_text(head, file_size, file_name);
  const json tree = base::parse_json(text, file_name, kHeaderLimits);
  SafetensorsHeader header;
  header.data_begin = safetensors_data_begin(head, file_size, file_name);
  for (const auto& [name, value] : tree.items()) {
    if (name == kMetadataKey) {
      header.metadata = metadata_from(value, file_name);
    } else {
      check_name(name, file_name);
      header.entries.push_back(entry_from(name, value, file_name));
    }
  }
  std::sort(header.entries.begin(), header.entries.end(),
            [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  check_tiling(header.entries, file_size - header.data_begin, file_name);
  return header;
}

std::string safetensors_header_bytes(const std::vector<SafetensorsEntry>& entries,
                                     const std::map<std::string, std::string>& metadata) {
  json tree = json::object();
  if (!metadata.empty()) {
    tree[kMetadataKey] = metadata;
  }
  for (const SafetensorsEntry& entry : entries) {
    tree[entry.name] = {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = base::dump_json(tree);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  base::check_argument(text.size() <= kMaxSafetensorsHeaderBytes,
                       "safetensors: {} tensors make a header of {} bytes, at most {} can be read; use fewer tensors",
                       entries.size(), text.size(), kMaxSafetensorsHeaderBytes);
  std::string bytes;
  for (size_t i = 0; i < kSafetensorsLengthBytes; ++i) {
    bytes += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  }
  return bytes + text;
}

}  // namespace dragoman::tensor
