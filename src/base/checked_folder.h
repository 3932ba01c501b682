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

/// A folder with a manifest, opened for reading. It hands out a file's bytes only after their size and SHA-256 matched
/// the manifest, so parsers never see a damaged file. Symbolic links inside it are refused.
/// The folder stays open: renaming it meanwhile does no harm. Safe for use from several threads.
class CheckedFolder {
 public:
  /// Reads manifest.json. Throws Error(kBadData): no folder, no manifest ("m: has no manifest.json; is it a model
  /// folder?"), or a damaged one.
  explicit CheckedFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  const Manifest& manifest() const { return manifest_; }
  bool has(const std::string& name) const { return manifest_.files.contains(name); }
  /// The path of a file, for messages.
  std::string path_of(const std::string& name) const { return (path_ / name).string(); }

  /// The bytes of one file. Throws Error(kBadData): not in the manifest, missing, or "m/source.spm: SHA-256 is 12ab...,
  /// the manifest says 34cd...; the file is damaged, take it from a copy or from checkpoints/".
  std::string read(const std::string& name) const;
  /// Fills its argument with the next bytes of a file.
  using ReadNext = std::function<void(std::span<char>)>;
  /// Hands the bytes of one file out while they are read, for a file too large to be held: `use` is called with its
  /// size and must read all of it. They are compared with the manifest in the end only, so `use` must expect anything,
  /// and what it made of them must not be used when this throws. Throws as `read` does.
  void stream(const std::string& name, const std::function<void(uint64_t size, const ReadNext& read)>& use) const;
  /// `read` into memory of the caller's: `room` is called with the size and must give so many bytes. What it gave
  /// holds anything when this throws.
  void read_into(const std::string& name, const std::function<std::span<char>(uint64_t size)>& room) const;
  /// Compares every file with the manifest, in pieces, without keeping it. Throws as `read` does.
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

/// True if `folder` has a manifest and every file matches it.
bool is_valid_folder(const std::filesystem::path& folder);

/// A folder whose name is a prefix and a number: "step-1200".
struct NumberedFolder {
  int64_t number = 0;
  std::filesystem::path path;
};

/// All of them in `parent`, highest number first; what is still written aside (`.tmp`) is not among them. Empty when
/// `parent` does not exist.
std::vector<NumberedFolder> numbered_folders(const std::filesystem::path& parent, const std::string& prefix);

/// The one with the highest number whose files all match their manifest: where a run goes on after a crash.
/// @param refused  if given, receives one message for each newer folder that did not pass
std::optional<NumberedFolder> newest_valid_folder(const std::filesystem::path& parent, const std::string& prefix,
                                                  std::vector<std::string>* refused = nullptr);

}  // namespace dragoman::base
