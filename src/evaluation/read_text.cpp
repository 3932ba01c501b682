#include "evaluation/read_text.h"

#include "base/error.h"
#include "base/text_input.h"
#include "base/utf8.h"
#include "evaluation/text.h"

namespace dragoman::evaluation {
namespace {

// Returns the number of bytes before the first that is no UTF-8.
size_t valid_bytes(std::string_view line) {
  size_t at = 0;
  for (base::CodePoint next; at < line.size(); at += next.bytes) {
    next = base::code_point_at(line, at);
    if (!next.is_valid) {
      break;
    }
  }
  return at;
}

void check_line(const std::string& line, const std::string& name, size_t number) {
  if (base::is_valid_utf8(line)) {
    return;
  }
  const size_t at = valid_bytes(line);
  base::fail(
      base::ErrorKind::kBadData,
      "{}: line {}: byte {} (0x{:02X}) is not UTF-8, and a score must not compare what is not known; convert the "
      "text, as in iconv -f WINDOWS-1252 -t UTF-8",
      name, number, at + 1, static_cast<unsigned char>(line[at]));
}

}  // namespace

Text read_text(const std::filesystem::path& path) {
  Text text{.name = path.string(), .lines = base::split_lines(base::read_text_file(path, base::ByteOrderMark::kKeep))};
  for (size_t i = 0; i < text.lines.size(); ++i) {
    std::string& line = text.lines[i];
    check_line(line, text.name, i + 1);
    line.resize(trim_right(line).size());
  }
  return text;
}

}  // namespace dragoman::evaluation
