#include "base/text_input.h"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file_reader.h"
#include "base/utf8.h"

namespace dragoman::base {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kInputBytes = size_t{1} << 20;
constexpr size_t kHeadBytes = size_t{1} << 12;

struct OtherEncoding {
  std::string_view mark;
  const char* name;  // as iconv knows it
};

// UTF-32 first: its mark begins with that of UTF-16.
constexpr OtherEncoding kOtherEncodings[] = {
    {"\xFF\xFE\x00\x00"sv, "UTF-32"},
    {"\x00\x00\xFE\xFF"sv, "UTF-32"},
    {"\xFF\xFE"sv, "UTF-16"},
    {"\xFE\xFF"sv, "UTF-16"},
};

// Everything that the first bytes of an input are compared with. No mark has LF, so no complete line is held back.
constexpr std::string_view kMarks[] = {
    kByteOrderMark,         kGzipMark, kXzMark, kZstdMark, kOtherEncodings[0].mark, kOtherEncodings[1].mark,
    kOtherEncodings[3].mark};

bool may_become_mark(std::string_view head) {
  return std::ranges::any_of(
      kMarks, [&](std::string_view mark) { return head.size() < mark.size() && mark.starts_with(head); });
}

}  // namespace

FileDescriptor open_text(const std::filesystem::path& path, int flags) {
  FileDescriptor file = open_for_reading(path, flags);
  check_data(!S_ISDIR(status_of(file, path.string()).st_mode),
             "{}: is a directory; give a text file with one sentence a line", path.string());
  return file;
}

TextInput::TextInput(FileDescriptor file, std::string name, ByteOrderMark mark)
    : file_(std::move(file)), name_(std::move(name)), mark_(mark) {}

size_t TextInput::read(std::span<char> to) {
  if (!has_begun_) {
    begin();
  }
  if (head_.empty()) {
    return take(to);
  }
  const size_t count = head_.copy(to.data(), to.size());
  head_.erase(0, count);
  return count;
}

bool TextInput::ready() const {
  if (!head_.empty() || !pending_.empty() || has_ended_) {
    return true;
  }
  struct pollfd input = {file_.get(), POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

void TextInput::begin() {
  has_begun_ = true;
  read_head();
  if (const Compression format = compression_of(head_); format != Compression::kNone) {
    decompressor_ = make_decompressor(format, name_);
    compressed_ = std::exchange(head_, {});
    pending_ = compressed_;
    read_head();
  }
  look_for_mark();
}

void TextInput::read_head() {
  std::string piece(kHeadBytes, '\0');
  while (may_become_mark(head_)) {
    const size_t got = take(piece);
    if (got == 0) {
      return;
    }
    head_.append(piece, 0, got);
  }
}

void TextInput::look_for_mark() {
  for (const OtherEncoding& other : kOtherEncodings) {
    check_data(!head_.starts_with(other.mark),
               "{0}: is {1} (by its first bytes), must be UTF-8; convert it: iconv -f {1} -t UTF-8 {0} > NEW", name_,
               other.name);
  }
  if (mark_ == ByteOrderMark::kSkip && head_.starts_with(kByteOrderMark)) {
    skipped_ = kByteOrderMark.size();
    head_.erase(0, skipped_);
  }
}

size_t TextInput::take(std::span<char> to) {
  return decompressor_ ? decompress(to) : read_some(file_, to, name_);
}

size_t TextInput::decompress(std::span<char> to) {
  for (;;) {
    if (pending_.empty() && !has_ended_) {
      compressed_.resize(kInputBytes);
      compressed_.resize(read_some(file_, compressed_, name_));
      pending_ = compressed_;
      has_ended_ = pending_.empty();
    }
    const size_t before = pending_.size();
    if (const size_t got = decompressor_->next(pending_, has_ended_ ? Follows::kNothing : Follows::kMore, to);
        got > 0) {
      return got;
    }
    if (has_ended_) {
      check_complete(*decompressor_, name_);
      return 0;
    }
    check_data(before > pending_.size(), "{}: its compressed data are damaged; take the file from a copy", name_);
  }
}

std::string read_text_file(const std::filesystem::path& path, ByteOrderMark mark) {
  TextInput input(open_text(path), path.string(), mark);
  std::string text, piece(kInputBytes, '\0');
  while (const size_t got = input.read(piece)) {
    text.append(piece, 0, got);
  }
  return text;
}

}  // namespace dragoman::base
