#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/file_descriptor.h"

namespace dragoman::base {

/// Whether a name that is a symbolic link may be followed to the file it names.
enum class SymbolicLinks {
  kFollow,  ///< paths that the user gave
  kRefuse,  ///< files of a model folder: a link could lead out of it
};

/// Opens `path` for reading. The descriptor is closed in child programs.
/// @param flags  further flags of open(2): O_NONBLOCK does not wait for the writer of a named pipe
/// Throws: Error(kBadData), "config.json: cannot open for reading: No such file or directory; check the path and its
/// permissions".
[[nodiscard]] FileDescriptor open_for_reading(const std::filesystem::path& path, int flags = 0);

/// Returns what fstat(2) says about an open file. `name` is the name of the file in errors.
/// Throws: Error(kBadData), "x.en: cannot read its size: ...; check the file system".
[[nodiscard]] struct stat status_of(const FileDescriptor& file, const std::string& name);

/// Fills the start of `to` with the next bytes of a file and returns their number, which is 0 at the end of the file.
/// A signal does not interrupt the read. Throws: Error(kBadData), "x.en: cannot read: ...; check the disk or the pipe".
[[nodiscard]] size_t read_some(const FileDescriptor& file, std::span<char> to, const std::string& name);

/// Fills all of `to` with the bytes at `offset`; the position of the file stays.
/// Throws: Error(kBadData), as read_some, or "x.en: ends before byte 97; the file shrank while it was in use".
void read_exactly_at(const FileDescriptor& file, std::span<char> to, uint64_t offset, const std::string& name);

/// One file opened for reading. Directories and devices are refused; pipes are read as they come.
/// Throws: Error(kBadData) with the path: "config.json: cannot open for reading: No such file or directory; check the
/// path and its permissions". Only `read_all` throws another kind.
class FileReader {
 public:
  /// Opens a path given by the user.
  explicit FileReader(const std::filesystem::path& path);
  /// Opens the regular file `name` in the open folder `folder`; errors name it `path`.
  /// A name with a slash is refused, so kRefuse keeps every file outside the folder out of reach.
  FileReader(int folder, const std::string& name, const std::filesystem::path& path, SymbolicLinks links);

  /// Returns the bytes of a regular file at the time of opening, and 0 for a pipe.
  [[nodiscard]] uint64_t size() const { return size_; }
  /// Replaces `piece` by the next bytes, at most 1 MiB. Returns false at the end.
  bool read_piece(std::string& piece);
  /// Returns all bytes from here to the end. Throws: Error(kBadData) for more than `max_bytes`, before any memory is
  /// allocated if the size is known; Error(kRuntime) if there is too little memory.
  [[nodiscard]] std::string read_all(uint64_t max_bytes);
  /// Fills `to` with the next bytes. Throws: Error(kBadData) if there are fewer.
  void read_next(std::span<char> to);
  /// Throws: Error(kBadData) if bytes are left.
  void check_end();

 private:
  enum class Pipes { kAllow, kRefuse };

  void check_kind(Pipes pipes);
  void check_size(uint64_t bytes, uint64_t max_bytes) const;
  std::string read_up_to(uint64_t max_bytes);

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t size_ = 0;
};

}  // namespace dragoman::base
