#include "evaluation/read_text.h"

#include "base/files.h"
#include "base/utf8.h"
#include "evaluation/text.h"

namespace dragoman::evaluation {

Text read_text(const std::filesystem::path& path) {
  Text text{.name = path.string(), .lines = base::split_lines(base::read_file(path))};
  for (std::string& line : text.lines) {
    if (!base::is_valid_utf8(line)) {
      line = base::repair_utf8(line);
    }
    line.resize(trim_right(line).size());
  }
  return text;
}

}  // namespace dragoman::evaluation
