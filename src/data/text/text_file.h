#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace dragoman::data {

/// Lines longer than this are refused by readers that must hold a whole line.
constexpr uint64_t kMaxLineBytes = uint64_t{64} << 20;

/// A line made fit for the sub-word model, and what had to be changed.
struct CleanLine {
  std::string text;
  bool repaired = false;  ///< held invalid UTF-8 or NUL
};

/// The rules for every line that enters dragoman: one final CR is dropped, NUL becomes a space, invalid UTF-8 becomes
/// U+FFFD. U+0085, U+2028, VT, FF and inner CR stay inside the line. @param raw  the bytes before LF.
CleanLine clean_line(std::string_view raw);

/// Streams lines from a file, a pipe or a terminal; memory is one line and a buffer of 1 MiB. Only LF ends a line; a
/// final line without LF counts. Hands out each line as soon as its LF has arrived. Not safe for two threads at once.
class LineReader {
 public:
  /// Opens a file or a named pipe. Throws Error(kBadData): missing, unreadable, a directory. An empty file is fine
  /// here. Sample: "train.en: is a directory; give a text file with one sentence a line".
  explicit LineReader(const std::filesystem::path& path);

  /// Reads an open descriptor such as standard input (0), which stays open afterwards.
  /// @param name  how errors call it.
  LineReader(int descriptor, std::string name);

  /// Reads the next line, cleaned, into `line`. @return false at the end.
  /// Throws Error(kBadData) for a read error or a line above kMaxLineBytes, naming the line.
  bool next(std::string& line);

  /// True if `next` need not wait for its first byte: a whole line is held, or more bytes or the end have arrived.
  bool ready() const;

  uint64_t lines_read() const { return lines_read_; }
  uint64_t lines_repaired() const { return lines_repaired_; }

 private:
  bool fill();
  void hand_out(std::string_view raw, std::string& line);

  base::FileDescriptor file_;
  std::string name_;
  std::string buffer_;
  size_t begin_ = 0;  // start of the bytes not handed out
  bool ended_ = false;
  uint64_t lines_read_ = 0;
  uint64_t lines_repaired_ = 0;
};

/// Where each line of a file starts: random access to a file of any size with 8 bytes of memory a line.
/// Safe for use by any number of threads. The file must not change while in use.
class LineIndex {
 public:
  /// Reads the file once. Throws Error(kBadData): missing, unreadable, not a regular file, or empty.
  /// Sample: "train.en: is empty; give a text file with one sentence a line".
  explicit LineIndex(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return starts_.size() - 1; }  ///< lines
  uint64_t bytes() const { return starts_.back(); }     ///< of the file; one more if the final LF is missing

  /// Bytes of line `line` (0-based), without its LF.
  uint64_t line_bytes(uint64_t line) const { return starts_[line + 1] - starts_[line] - 1; }

  /// Line `line` (0-based), cleaned.
  /// Throws Error(kBadData) if the file has shrunk or cannot be read, or the line exceeds kMaxLineBytes.
  CleanLine read(uint64_t line) const;

 private:
  std::filesystem::path path_;
  base::FileDescriptor file_;
  std::vector<uint64_t> starts_;  // [lines + 1]; the last entry is where the next line would start
};

/// All lines of a file, cleaned: for validation and test sets, which are small.
/// Throws Error(kBadData) as LineIndex does, an empty file included.
std::vector<std::string> read_lines(const std::filesystem::path& path);

}  // namespace dragoman::data
