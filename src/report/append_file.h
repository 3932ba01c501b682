#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/file_descriptor.h"

namespace dragoman::report {

/// A file that only grows, record by record. Each record is handed to the system in full before `append` returns, so
/// that `kill -9` loses none; a record that could not be written whole (full disk) is taken back.
/// Not thread safe; one owner.
class AppendFile {
 public:
  /// Opens or creates. Throws Error(kCannotWrite): "metrics.jsonl: cannot open for appending: Permission denied
  /// (errno 13); choose a folder that you may write to".
  explicit AppendFile(const std::filesystem::path& path);

  /// Adds `record` at the end. Throws Error(kCannotWrite) after a few tries; the file then ends as before the call.
  void append(std::string_view record);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  base::FileDescriptor file_;
  int64_t size_ = 0;  ///< bytes of whole records
};

}  // namespace dragoman::report
