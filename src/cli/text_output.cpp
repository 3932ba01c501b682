#include "cli/text_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::cli {

TextOutput::TextOutput(std::filesystem::path path) : path_(path == "-" ? std::filesystem::path() : std::move(path)) {}

void TextOutput::write(std::string_view text) {
  if (!path_.empty()) {
    pending_ += text;
    return;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  base::check(written, base::ErrorKind::kCannotWrite,
              "standard output: cannot write: {}; the reader may have gone or the disk be full", std::strerror(errno));
}

void TextOutput::finish() {
  if (!path_.empty()) {
    base::write_file_atomic(path_, pending_);
  }
}

}  // namespace dragoman::cli
