#include "cli/text_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace dragoman::cli {

namespace fs = std::filesystem;

namespace {

bool status_is_silent = false;  // of the whole process, as its standard error is

}  // namespace

TextOutput::TextOutput(fs::path path) : name_(path.string()) {
  std::error_code unknown;
  if (path.empty() || path == "-") {
    name_ = "standard output";
  } else if (fs::is_other(fs::status(path, unknown))) {
    device_.reset(std::fopen(name_.c_str(), "w"));
    base::check(device_ != nullptr, base::ErrorKind::kCannotWrite, "{}: cannot open: {}", name_, std::strerror(errno));
  } else {
    file_ = std::make_unique<base::FileWriter>(std::move(path));
  }
}

void TextOutput::write(std::string_view text) {
  if (file_) {
    file_->add(text);
    return;
  }
  std::FILE* file = device_ ? device_.get() : stdout;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  const int error = errno;
  if (!written && error == EPIPE) {
    throw ReaderGone();
  }
  base::check(written, base::ErrorKind::kCannotWrite, "{}: cannot write: {}; the disk may be full", name_,
              std::strerror(error));
}

void TextOutput::finish() {
  if (file_) {
    file_->commit();
  }
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

void be_quiet() {
  status_is_silent = true;
}

bool is_quiet() {
  return status_is_silent;
}

void say_status(const std::string& text) {
  if (!is_quiet()) {
    say(text);
  }
}

void say_note(const std::string& note) {
  if (!note.empty()) {
    say("dragoman: " + note + "\n");
  }
}

}  // namespace dragoman::cli
