#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::tensor {

/// One tensor of a safetensors file, as its header describes it.
struct SafetensorsEntry {
  std::string name;             ///< 1 to 256 bytes of printable UTF-8
  std::string dtype;            ///< "F32", "BF16", "I8", ...: any of the format's names
  std::vector<uint64_t> shape;  ///< outermost first; none for a scalar; no axis is 0
  uint64_t begin = 0;           ///< first byte, counted from the end of the header
  uint64_t end = 0;             ///< one past the last byte
};

/// The checked header: the entries tile the data exactly, in this order, without gap or overlap.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        ///< by begin
  std::map<std::string, std::string> metadata;  ///< the "__metadata__" object
  uint64_t data_begin = 0;                      ///< bytes before the data: 8 + length of the header
};

/// Longest header that is read or written. (The format allows 100,000,000 bytes; a model's needs some 100 kB.)
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = uint64_t{16} << 20;

/// Reads and checks the header of a safetensors file held in memory. Nothing is allocated by a number that stands in
/// the file before that number was compared with the file's size. Stricter than the format: duplicate names, empty
/// tensors, unprintable names and nesting beyond 3 are refused.
/// @param file  all bytes of the file;  @param file_name  how errors call it
/// Throws Error(kBadData): "m/model.safetensors: tensor 'a.weight': shape [2, 3] of F32 is 24 bytes, data_offsets span
/// 20; the file is damaged or hostile".
/// Source: safetensors format, README "Format" (8 bytes N, N bytes JSON, data); reliability of third-party readers: its
/// `attacks/` folder.
SafetensorsHeader parse_safetensors_header(std::string_view file, std::string_view file_name);

/// The same of a file that is not in memory. @param head  its first safetensors_data_begin() bytes, or more
SafetensorsHeader parse_safetensors_header(std::string_view head, uint64_t file_size, std::string_view file_name);

/// Bytes before the data of a file, from its first 8 bytes (all of it, if it has fewer): 8 + length of the header.
/// Throws Error(kBadData) when the file cannot have such a header.
uint64_t safetensors_data_begin(std::string_view first_bytes, uint64_t file_size, std::string_view file_name);

/// Bytes of the length at the beginning of a file.
inline constexpr uint64_t kSafetensorsLengthBytes = 8;

/// The first bytes of a file with these tensors: 8 bytes length, JSON, spaces up to a multiple of 8.
/// Requires: the names are unique, and the entries tile the data.
/// Throws: Error(kRuntime) if the header exceeds kMaxSafetensorsHeaderBytes.
std::string safetensors_header_bytes(const std::vector<SafetensorsEntry>& entries,
                                     const std::map<std::string, std::string>& metadata);

}  // namespace dragoman::tensor
