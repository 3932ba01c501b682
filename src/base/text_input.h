#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/decompressor.h"
#include "base/file_descriptor.h"

namespace dragoman::base {

/// What a reader of text does with U+FEFF at the very start, which marks a file as UTF-8.
enum class ByteOrderMark {
  kSkip,
  kKeep,  ///< it is a character of the first line, as for sacreBLEU
};

/// Opens a file or a named pipe with text. @param flags  as for open_for_reading
/// Throws: Error(kBadData) if it is missing, unreadable or a directory, "train.en: is a directory; give a text file
/// with one sentence a line".
[[nodiscard]] FileDescriptor open_text(const std::filesystem::path& path, int flags = 0);

/// The bytes of a text, from a file, a pipe or a terminal. What stands first decides how they are read:
/// - gzip, xz and zstd are decompressed on the way;
/// - a byte order mark of UTF-8 is no text;
/// - a byte order mark of UTF-16 or UTF-32 is refused.
/// Nothing is read before it is wanted. Threads: one thread at a time.
class TextInput {
 public:
  /// @param name  name of the input in errors
  TextInput(FileDescriptor file, std::string name, ByteOrderMark mark = ByteOrderMark::kSkip);

  /// Fills the start of `to` with the next bytes and returns their number, which is 0 at the end. Returns what has
  /// arrived without waiting for more. Requires: `to` is not empty.
  /// Throws: Error(kBadData) for a read error; for UTF-16, "u.en: is UTF-16, must be UTF-8; convert it: iconv -f UTF-16
  /// -t UTF-8 u.en > NEW"; for damaged compressed data; and as check_complete for compressed data that are cut off.
  [[nodiscard]] size_t read(std::span<char> to);

  /// Returns true if `read` does not wait.
  [[nodiscard]] bool ready() const;
  /// Return whether the input is compressed, and the bytes of the mark that were left out. Requires: `read` was called.
  [[nodiscard]] bool is_compressed() const { return decompressor_ != nullptr; }
  [[nodiscard]] size_t skipped() const { return skipped_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void begin();
  void read_head();
  void look_for_mark();
  size_t take(std::span<char> to);
  size_t decompress(std::span<char> to);

  FileDescriptor file_;
  std::string name_;
  ByteOrderMark mark_;
  bool has_begun_ = false;
  std::string head_;  // bytes that were looked at and are not handed out
  size_t skipped_ = 0;
  std::unique_ptr<Decompressor> decompressor_;
  std::string compressed_;
  std::string_view pending_;  // of compressed_: not decompressed
  bool has_ended_ = false;    // the compressed bytes
};

/// Returns all bytes of a text. Throws: Error(kBadData), as open_text and TextInput.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path, ByteOrderMark mark = ByteOrderMark::kSkip);

}  // namespace dragoman::base
