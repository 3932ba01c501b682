#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace dragoman::training {

/// A file that only grows, record by record. Each record is handed to the system in full before `append` returns, so
/// that `kill -9` loses none; a record that could not be written whole (full disk) is taken back.
/// Not thread safe; one owner.
class AppendFile {
 public:
  /// Opens or creates. Throws Error(kCannotWrite): "metrics.jsonl: cannot open for appending: Permission denied; ...".
  explicit AppendFile(const std::filesystem::path& path);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Adds `record` at the end. Throws Error(kCannotWrite) after a few tries; the file then ends as before the call.
  void append(std::string_view record);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;  ///< bytes of whole records
};

}  // namespace dragoman::training
