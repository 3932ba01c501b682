#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/file_descriptor.h"

namespace dragoman::report {

/// A file to which records are appended. `append` returns after the system has accepted the whole record, so `kill -9`
/// loses none. A partly written record, for example on a full disk, is removed. Requires: one writer of the file.
/// Threads: one thread at a time.
class AppendFile {
 public:
  /// Opens or creates the file. Throws: Error(kCannotWrite), "metrics.jsonl: cannot open for appending: Permission
  /// denied (errno 13); choose a folder that you may write to".
  explicit AppendFile(const std::filesystem::path& path);

  /// Appends `record`. Throws: Error(kCannotWrite) after several tries; the file is then unchanged.
  void append(std::string_view record);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  base::FileDescriptor file_;
  int64_t size_ = 0;  ///< bytes of whole records
};

}  // namespace dragoman::report
