#pragma once

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

/// One file opened for reading. Refuses directories and devices; pipes are read as they come.
/// Every error is Error(kBadData) and names the path: "config.json: cannot open for reading: No such file or
/// directory; check the path".
class FileReader {
 public:
  /// Opens a path given by the user.
  explicit FileReader(const std::filesystem::path& path);
  /// Opens the regular file `name` in the open folder `folder`; `path` is how errors call it.
  /// `name` holds no slash (checked), so that with kRefuse nothing outside the folder can be reached.
  FileReader(int folder, const std::string& name, const std::filesystem::path& path, SymbolicLinks links);

  /// Bytes of a regular file when it was opened; 0 for a pipe.
  uint64_t size() const { return size_; }
  /// Replaces `piece` by the next bytes (up to 1 MiB). False at the end.
  bool read_piece(std::string& piece);
  /// Everything from here to the end. Throws when that is more than `max_bytes`, before memory is asked for where the
  /// size is known; also when memory for it is not there.
  std::string read_all(uint64_t max_bytes);
  /// Fills `to` with the next bytes. Throws when there are fewer.
  void read_next(std::span<char> to);
  /// Throws unless all has been read.
  void check_end();

 private:
  void check_kind(bool pipes_allowed);
  void check_size(uint64_t bytes, uint64_t max_bytes) const;
  size_t read_some(char* buffer, size_t bytes);
  std::string read_up_to(uint64_t max_bytes);

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t size_ = 0;
};

}  // namespace dragoman::base
