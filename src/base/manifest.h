#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dragoman::base {

/// The name of the manifest, which is the last file written into every folder.
inline constexpr const char* kManifestName = "manifest.json";

/// The expected size and hash of one file.
struct FileRecord {
  uint64_t size = 0;   ///< bytes
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  bool operator==(const FileRecord&) const = default;
};

/// The records of all files of a folder except the manifest, by name.
struct Manifest {
  std::map<std::string, FileRecord> files;
  bool operator==(const Manifest&) const = default;
};

/// Returns the manifest as JSON text: format, version, the records, and a SHA-256 over the records. One manifest has
/// exactly one text, so every changed byte is detected.
std::string to_text(const Manifest& manifest);

/// Returns the manifest that `to_text` has written as `text`. Throws: Error(kBadData) for any other text,
/// "m/manifest.json: byte 97 differs from what its content must be written as; the file is damaged, ...".
Manifest manifest_from_text(std::string_view text, std::string_view file_name);

/// Returns true for a valid name of a file in a folder: 1 to 128 of A-Z a-z 0-9 . _ -, without a dot at the beginning,
/// and not the name of the manifest. So no name leads out of the folder or equals the name of a temporary file.
[[nodiscard]] bool is_file_name(std::string_view name);

}  // namespace dragoman::base
