#include "data/text/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/durable_write.h"
#include "base/error.h"
#include "base/file_reader.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace dragoman::data {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr const char* kWanted = "give a text file with one sentence a line";

// A descriptor of the same open file, so that closing it leaves `descriptor` open.
base::FileDescriptor copy_of(int descriptor, const std::string& name) {
  base::FileDescriptor copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  base::check_data(copy.is_open(), "{}: cannot open for reading: {}; check that it is open", name,
                   std::strerror(errno));
  return copy;
}

base::FileDescriptor open_regular_text(const std::filesystem::path& path) {
  base::FileDescriptor file = base::open_text(path, O_NONBLOCK);
  base::check_data(S_ISREG(base::status_of(file, path.string()).st_mode),
                   "{}: is not a regular file, and training reads it out of order; {}", path.string(), kWanted);
  return file;
}

// A file without a name, which is gone when it is closed.
base::FileDescriptor make_unnamed_file(const std::filesystem::path& folder) {
  base::FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) {
    return file;
  }
  std::string name = folder / "dragoman-XXXXXX";  // file systems without O_TMPFILE
  file = base::FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  base::check(file.is_open(), base::ErrorKind::kCannotWrite,
              "{}: cannot make a temporary file for decompressed text: {}; let TMPDIR name a folder with free space",
              folder.string(), std::strerror(errno));
  ::unlink(name.c_str());
  return file;
}

// Where a compressed text goes to be read out of order.
class Spool {
 public:
  explicit Spool(std::string name)
      : name_(std::move(name)), folder_(std::filesystem::temp_directory_path()), file_(make_unnamed_file(folder_)) {}

  void add(std::string_view bytes) {
    const base::WriteFailure failure = base::write_all(file_.get(), bytes);
    base::check(!failure, base::ErrorKind::kCannotWrite,
                "{}: cannot decompress it into {}: {}; let TMPDIR name a folder with free space", name_,
                folder_.string(), std::strerror(failure.error));
  }
  base::FileDescriptor take() { return std::move(file_); }

 private:
  std::string name_;
  std::filesystem::path folder_;
  base::FileDescriptor file_;
};

// Appends where lines start behind each LF of `piece`, which begins at byte `offset` of the text.
void append_line_starts(std::string_view piece, uint64_t offset, std::vector<uint64_t>& starts) {
  for (size_t at = piece.find('\n'); at != std::string_view::npos; at = piece.find('\n', at + 1)) {
    starts.push_back(offset + at + 1);
  }
}

}  // namespace

CleanLine clean_line(std::string_view raw) {
  if (raw.ends_with('\r')) {
    raw.remove_suffix(1);
  }
  const bool fit = raw.find('\0') == std::string_view::npos && base::is_valid_utf8(raw);
  return {fit ? std::string(raw) : base::repair_utf8(raw), !fit};
}

LineReader::LineReader(const std::filesystem::path& path) : input_(base::open_text(path), path.string()) {}

LineReader::LineReader(int descriptor, std::string name) : input_(copy_of(descriptor, name), name) {}

bool LineReader::next(std::string& line) {
  size_t searched = begin_;
  for (;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      hand_out(std::string_view(buffer_).substr(begin_, end - begin_), line);
      begin_ = end + 1;
      return true;
    }
    const size_t pending = buffer_.size() - begin_;
    base::check_data(pending <= kMaxLineBytes, "{}: line {} is longer than {} bytes; is this a text file?",
                     input_.name(), lines_read_ + 1, kMaxLineBytes);
    if (!fill()) {
      if (pending == 0) {
        return false;
      }
      hand_out(std::string_view(buffer_).substr(begin_), line);
      begin_ = buffer_.size();
      return true;
    }
    searched = begin_ + pending;
  }
}

bool LineReader::ready() const {
  if (ended_ || buffer_.find('\n', begin_) != std::string::npos) {
    return true;
  }
  return input_.ready();
}

// Moves the pending bytes to the front of the buffer and reads more behind them. @return false at the end.
bool LineReader::fill() {
  if (ended_) {
    return false;
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t pending = buffer_.size();
  buffer_.resize(pending + kBufferBytes);
  const size_t got = input_.read(std::span(buffer_).subspan(pending));
  buffer_.resize(pending + got);
  ended_ = got == 0;
  return !ended_;
}

void LineReader::hand_out(std::string_view raw, std::string& line) {
  CleanLine clean = clean_line(raw);
  ++lines_read_;
  if (clean.repaired && lines_repaired_++ == 0) {
    first_repaired_ = lines_read_;
  }
  line = std::move(clean.text);
}

std::string LineReader::repairs() const {
  return lines_repaired_ == 0 ? ""
                              : fmt::format("{}: {} line{} held invalid UTF-8 or NUL and {} repaired (first: line {})",
                                            input_.name(), lines_repaired_, lines_repaired_ == 1 ? "" : "s",
                                            lines_repaired_ == 1 ? "was" : "were", first_repaired_);
}

LineIndex::LineIndex(const std::filesystem::path& path) : path_(path), file_(open_regular_text(path)) {
  index(base::TextInput(copy_of(file_.get(), path.string()), path.string()));
  base::check_data(size() > 0, "{}: is empty; {}", path.string(), kWanted);
}

void LineIndex::index(base::TextInput input) {
  std::optional<Spool> spool;
  std::string buffer(kBufferBytes, '\0');
  while (const size_t got = input.read(buffer)) {
    const std::string_view piece(buffer.data(), got);
    if (starts_.empty()) {
      end_ = input.is_compressed() ? 0 : input.skipped();
      starts_.push_back(end_);
    }
    if (input.is_compressed() && !spool) {
      spool.emplace(input.name());
    }
    if (spool) {
      spool->add(piece);
    }
    append_line_starts(piece, end_, starts_);
    end_ += got;
  }
  if (starts_.empty()) {
    starts_.push_back(0);
  }
  if (starts_.back() < end_) {
    starts_.push_back(end_ + 1);  // as if the final line had its LF
  }
  if (spool) {
    file_ = spool->take();
  }
}

std::string LineIndex::sha256() const {
  base::Sha256 hash;
  std::string buffer(kBufferBytes, '\0');
  for (uint64_t at = starts_.front(); at < end_; at += buffer.size()) {
    buffer.resize(std::min<uint64_t>(kBufferBytes, end_ - at));
    base::read_exactly_at(file_, buffer, at, path_.string());
    hash.update(buffer);
  }
  return hash.hex();
}

CleanLine LineIndex::read(uint64_t line) const {
  base::check_data(line < size(), "{}: line {} was asked for, the file has {}", path_.string(), line + 1, size());
  const uint64_t length = line_bytes(line);
  base::check_data(length <= kMaxLineBytes, "{}: line {} is longer than {} bytes; is this a text file?", path_.string(),
                   line + 1, kMaxLineBytes);
  std::string raw(length, '\0');
  base::read_exactly_at(file_, raw, starts_[line], path_.string());
  return clean_line(raw);
}

uint64_t count_lines(const std::filesystem::path& path) {
  base::TextInput input(open_regular_text(path), path.string());
  std::string buffer(kBufferBytes, '\0');
  uint64_t lines = 0;
  bool is_inside = false;
  while (const size_t got = input.read(buffer)) {
    const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(got);
    lines += static_cast<uint64_t>(std::count(buffer.begin(), end, '\n'));
    is_inside = buffer[got - 1] != '\n';
  }
  lines += is_inside ? 1 : 0;
  base::check_data(lines > 0, "{}: is empty; {}", path.string(), kWanted);
  return lines;
}

std::vector<std::string> read_lines(const std::filesystem::path& path, std::string* repairs) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.push_back(line);
  }
  base::check_data(!lines.empty(), "{}: is empty; {}", path.string(), kWanted);
  if (repairs != nullptr) {
    *repairs = reader.repairs();
  }
  return lines;
}

}  // namespace dragoman::data
