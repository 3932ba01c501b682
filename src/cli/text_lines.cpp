#include "cli/text_lines.h"

#include "cli/text_output.h"
#include "data/text/text_file.h"

namespace dragoman::cli {

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::string repairs;
  std::vector<std::string> lines = data::read_lines(file, &repairs);
  say_note(repairs);
  return lines;
}

}  // namespace dragoman::cli
