#include "cli/text_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::cli {

namespace fs = std::filesystem;

TextOutput::TextOutput(fs::path path) : name_(path.string()) {
  if (path.empty() || path == "-") {
    name_ = "standard output";
  } else if (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path)) {
    device_.reset(std::fopen(name_.c_str(), "w"));
    base::check(device_ != nullptr, base::ErrorKind::kCannotWrite, "{}: cannot open: {}", name_, std::strerror(errno));
  } else {  // what would fail at the end fails now, not after an hour of work
    base::check(!fs::is_directory(path), base::ErrorKind::kCannotWrite,
                "{}: cannot write: it is a folder; give the name of a file", name_);
    base::check(fs::is_directory(fs::absolute(path).parent_path()), base::ErrorKind::kCannotWrite,
                "{}: cannot write: there is no folder of that name; make it first", name_);
    path_ = std::move(path);
  }
}

void TextOutput::write(std::string_view text) {
  if (!path_.empty()) {
    pending_ += text;
    return;
  }
  std::FILE* file = device_ ? device_.get() : stdout;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  base::check(written, base::ErrorKind::kCannotWrite,
              "{}: cannot write: {}; the reader may have gone or the disk be full", name_, std::strerror(errno));
}

void TextOutput::finish() {
  if (!path_.empty()) {
    base::write_file_atomic(path_, pending_);
  }
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

}  // namespace dragoman::cli
