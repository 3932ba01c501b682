#include "data/text/text_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/file_reader.h"
#include "base/utf8.h"

namespace dragoman::data {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr const char* kWanted = "give a text file with one sentence a line";

base::FileDescriptor open_text(const std::filesystem::path& path, int flags = 0) {
  base::FileDescriptor file = base::open_for_reading(path, flags);
  base::check_data(!S_ISDIR(base::status_of(file, path.string()).st_mode), "{}: is a directory; {}", path.string(),
                   kWanted);
  return file;
}

// A descriptor of the same open file, so that closing it leaves `descriptor` open.
base::FileDescriptor copy_of(int descriptor, const std::string& name) {
  base::FileDescriptor copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  base::check_data(copy.is_open(), "{}: cannot open for reading: {}; check that it is open", name,
                   std::strerror(errno));
  return copy;
}

std::vector<uint64_t> find_line_starts(const base::FileDescriptor& file, const std::string& name) {
  std::vector<uint64_t> starts{0};
  std::string buffer(kBufferBytes, '\0');
  uint64_t offset = 0;
  while (const size_t got = base::read_some(file, buffer, name)) {
    const char* const end = buffer.data() + got;
    for (const char* at = buffer.data();
         (at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)))) != nullptr;) {
      ++at;
      starts.push_back(offset + static_cast<uint64_t>(at - buffer.data()));
      if (at == end) {
        break;
      }
    }
    offset += got;
  }
  if (starts.back() < offset) {
    starts.push_back(offset + 1);  // as if the final line had its LF
  }
  return starts;
}

}  // namespace

CleanLine clean_line(std::string_view raw) {
  if (raw.ends_with('\r')) {
    raw.remove_suffix(1);
  }
  const bool fit = raw.find('\0') == std::string_view::npos && base::is_valid_utf8(raw);
  return {fit ? std::string(raw) : base::repair_utf8(raw), !fit};
}

LineReader::LineReader(const std::filesystem::path& path) : file_(open_text(path)), name_(path.string()) {}

LineReader::LineReader(int descriptor, std::string name) : file_(copy_of(descriptor, name)), name_(std::move(name)) {}

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
    base::check_data(pending <= kMaxLineBytes, "{}: line {} is longer than {} bytes; is this a text file?", name_,
                     lines_read_ + 1, kMaxLineBytes);
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
  struct pollfd input = {file_.get(), POLLIN, 0};
  return poll(&input, 1, 0) > 0;
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
  const size_t got = base::read_some(file_, std::span(buffer_).subspan(pending), name_);
  buffer_.resize(pending + got);
  ended_ = got == 0;
  return !ended_;
}

void LineReader::hand_out(std::string_view raw, std::string& line) {
  CleanLine clean = clean_line(raw);
  ++lines_read_;
  lines_repaired_ += clean.repaired ? 1 : 0;
  line = std::move(clean.text);
}

LineIndex::LineIndex(const std::filesystem::path& path) : path_(path), file_(open_text(path, O_NONBLOCK)) {
  const struct stat status = base::status_of(file_, path.string());
  base::check_data(S_ISREG(status.st_mode), "{}: is not a regular file, and training reads it out of order; {}",
                   path.string(), kWanted);
  base::check_data(status.st_size > 0, "{}: is empty; {}", path.string(), kWanted);
  starts_ = find_line_starts(file_, path.string());
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

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.push_back(line);
  }
  base::check_data(!lines.empty(), "{}: is empty; {}", path.string(), kWanted);
  return lines;
}

}  // namespace dragoman::data
