#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dragoman::base {

/// Name of the manifest in every folder that dragoman writes. It is the last file written.
inline constexpr const char* kManifestName = "manifest.json";

/// What one file of a folder must be.
struct FileRecord {
  uint64_t size = 0;   ///< bytes
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  bool operator==(const FileRecord&) const = default;
};

/// All files of a folder but the manifest itself, by name.
struct Manifest {
  std::map<std::string, FileRecord> files;
  bool operator==(const Manifest&) const = default;
};

/// The manifest as JSON text: format, version, the records, and a SHA-256 over the records. One manifest has exactly
/// one text, so every change of a byte of it is found.
std::string to_text(const Manifest& manifest);

/// The reverse. Throws Error(kBadData) unless `text` is what to_text writes:
/// "m/manifest.json: byte 97 differs from what its content must be written as; the file is damaged, ...".
Manifest manifest_from_text(std::string_view text, std::string_view file_name);

/// True for a name that a folder may hold: 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a dot, not the manifest.
/// So no name leads out of the folder or clashes with what is written aside.
bool is_file_name(std::string_view name);

}  // namespace dragoman::base
