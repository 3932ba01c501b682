#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/text_input.h"

namespace dragoman::data {

/// The longest line that readers accept.
constexpr uint64_t kMaxLineBytes = uint64_t{64} << 20;

/// A line that is valid input of the sub-word model.
struct CleanLine {
  std::string text;
  bool repaired = false;  ///< the line contained invalid UTF-8 or NUL
};

/// Returns a line of input in valid form. One CR at the end is removed, NUL becomes a space, and invalid UTF-8 becomes
/// U+FFFD. U+0085, U+2028, VT, FF and other CRs stay. @param raw  the bytes before LF
[[nodiscard]] CleanLine clean_line(std::string_view raw);

/// A reader of the lines of a file, a pipe or a terminal. Only LF ends a line; the last line counts also without LF.
/// Each line is returned as soon as its LF has arrived. Compressed input and byte order marks are treated as by
/// base::TextInput. Memory: one line and a buffer of 1 MiB. Threads: one thread at a time.
class LineReader {
 public:
  /// Opens a file or a named pipe; the file may be empty. Throws: Error(kBadData) if it is missing, unreadable or a
  /// directory, "train.en: is a directory; give a text file with one sentence a line".
  explicit LineReader(const std::filesystem::path& path);

  /// Reads an open descriptor, such as 0 for standard input. The descriptor stays open afterwards.
  /// @param name  name of the input in errors
  LineReader(int descriptor, std::string name);

  /// Reads the next line as clean_line into `line`. Returns false at the end.
  /// Throws: Error(kBadData) with the number of the line, for a read error or a line above kMaxLineBytes; and as
  /// base::TextInput::read.
  [[nodiscard]] bool next(std::string& line);

  /// Returns true if `next` does not wait for its first byte: a whole line is buffered, or more bytes or the end of the
  /// input have arrived.
  bool ready() const;

  uint64_t lines_read() const { return lines_read_; }
  uint64_t lines_repaired() const { return lines_repaired_; }
  /// Returns what a person should be told of the lines so far: "u.en: 2 lines held invalid UTF-8 or NUL and were
  /// repaired (first: line 17)". Empty if none was repaired.
  [[nodiscard]] std::string repairs() const;

 private:
  bool fill();
  void hand_out(std::string_view raw, std::string& line);

  base::TextInput input_;
  std::string buffer_;
  size_t begin_ = 0;  // start of the bytes not handed out
  bool ended_ = false;
  uint64_t lines_read_ = 0;
  uint64_t lines_repaired_ = 0;
  uint64_t first_repaired_ = 0;  // counted from 1
};

/// An index of the lines of a file, for random access to a file of any size. A compressed file is decompressed into a
/// file without a name in TMPDIR (/tmp), which goes with the index. Byte order marks are treated as by base::TextInput.
/// Memory: 8 bytes a line.
/// Requires: the file does not change during use. Threads: any number.
class LineIndex {
 public:
  /// Reads the whole file. Throws: Error(kBadData) if it is missing, unreadable, empty or no regular file,
  /// "train.en: is empty; give a text file with one sentence a line"; as base::TextInput::read; Error(kCannotWrite) if
  /// a compressed file does not fit into TMPDIR.
  explicit LineIndex(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return starts_.size() - 1; }  ///< lines
  uint64_t bytes() const { return starts_.back(); }     ///< size of the text, plus one if the last LF is missing

  /// Returns the bytes of a line, counted from 0, without its LF.
  uint64_t line_bytes(uint64_t line) const { return starts_[line + 1] - starts_[line] - 1; }

  /// Returns a line, counted from 0, as clean_line. Throws: Error(kBadData) if the file has shrunk or cannot be read,
  /// or the line exceeds kMaxLineBytes.
  [[nodiscard]] CleanLine read(uint64_t line) const;

  /// Reads the text and returns its SHA-256 hash, which does not depend on how the file is compressed. Throws: as read.
  [[nodiscard]] std::string sha256() const;

 private:
  void index(base::TextInput input);

  std::filesystem::path path_;
  base::FileDescriptor file_;     // the text, decompressed
  uint64_t end_ = 0;              // bytes of file_
  std::vector<uint64_t> starts_;  // [lines + 1]; the last entry is where the next line would start
};

/// Returns the number of lines of a file of any size. Throws: Error(kBadData) as LineIndex.
[[nodiscard]] uint64_t count_lines(const std::filesystem::path& path);

/// Returns all lines of a small file, such as a validation or test set, as clean_line.
/// @param repairs  unless null, receives LineReader::repairs
/// Throws: Error(kBadData) as LineReader, also for an empty file.
[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& path, std::string* repairs = nullptr);

}  // namespace dragoman::data
