#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_reader.h"
#include "base/manifest.h"

namespace dragoman::base {

/// A folder with a manifest, opened for reading. `read` returns the bytes of a file only if their size and SHA-256
/// match the manifest, so parsers never see a damaged file. Symbolic links inside the folder are refused. The folder
/// stays open, so it may be renamed while it is read. Threads: any number of threads may use one object.
class CheckedFolder {
 public:
  /// Reads manifest.json. Throws: Error(kBadData) if the folder or the manifest is missing ("m: has no manifest.json;
  /// is it a model folder?"), or the manifest is damaged.
  explicit CheckedFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  const Manifest& manifest() const { return manifest_; }
  bool has(const std::string& name) const { return manifest_.files.contains(name); }
  /// Returns the path of a file, for messages.
  std::string path_of(const std::string& name) const { return (path_ / name).string(); }

  /// Returns the bytes of one file. Throws: Error(kBadData) if the file is missing, is not in the manifest, or differs:
  /// "m/source.spm: SHA-256 is 12ab..., the manifest says 34cd...; the file is damaged, take it from a copy or from
  /// checkpoints/".
  std::string read(const std::string& name) const;
  /// A function that fills its argument with the next bytes of a file.
  using ReadNext = std::function<void(std::span<char>)>;
  /// Passes the bytes of one file to `use` while they are read, for a file that is too large to hold in memory.
  /// Requires: `use` reads all `size` bytes. The bytes are compared with the manifest only at the end. So `use` must
  /// accept any bytes, and the caller must discard its results when `stream` throws.
  /// Throws: as `read`.
  void stream(const std::string& name, const std::function<void(uint64_t size, const ReadNext& read)>& use) const;
  /// Reads one file into memory of the caller. `room` is called with the size and returns a span of that many bytes.
  /// The content of the span is undefined when `read_into` throws. Throws: as `read`.
  void read_into(const std::string& name, const std::function<std::span<char>(uint64_t size)>& room) const;
  /// Compares every file with the manifest, in pieces, without keeping the bytes. Throws: as `read`.
  void verify() const;

 private:
  FileReader open(const std::string& name) const;
  const FileRecord& record(const std::string& name) const;
  void check_size(const std::string& name, uint64_t size) const;
  void check_sha256(const std::string& name, const std::string& sha256) const;

  std::filesystem::path path_;
  FileDescriptor folder_;
  Manifest manifest_;
};

/// Returns true if `folder` has a manifest and every file matches the manifest.
[[nodiscard]] bool is_valid_folder(const std::filesystem::path& folder);

/// A folder whose name is a prefix and a number: "step-1200".
struct NumberedFolder {
  int64_t number = 0;
  std::filesystem::path path;
};

/// Returns all numbered folders in `parent`, highest number first. Folders that are still being written (`.tmp`) are
/// left out. The result is empty if `parent` does not exist.
[[nodiscard]] std::vector<NumberedFolder> numbered_folders(const std::filesystem::path& parent,
                                                           const std::string& prefix);

/// Returns the folder with the highest number whose files all match their manifest. A run continues there after a
/// crash.
/// @param refused  unless null, receives one message for each newer folder that was refused
[[nodiscard]] std::optional<NumberedFolder> newest_valid_folder(const std::filesystem::path& parent,
                                                                const std::string& prefix,
                                                                std::vector<std::string>* refused = nullptr);

}  // namespace dragoman::base
