#include "study/text_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "data/text/text_file.h"

namespace dragoman::study {
namespace {

Lines column_of(const Lines& table, size_t column, const std::string& file) {
  Lines cells;
  for (const std::string& line : table) {
    const std::vector<std::string_view> columns = base::split(line, '\t');
    base::check_data(line.empty() || column <= columns.size(), "{}:{}: has {} columns, the study wants column {}", file,
                     cells.size() + 1, columns.size(), column);
    cells.emplace_back(line.empty() ? "" : columns[column - 1]);
  }
  return cells;
}

// Words up to each empty line as one line.
Lines sentences_of(const Lines& words) {
  Lines sentences;
  bool is_new = true;
  for (const std::string& word : words) {
    if (!word.empty() && is_new) {
      sentences.push_back(word);
    } else if (!word.empty()) {
      sentences.back() += " " + word;
    }
    is_new = word.empty();
  }
  return sentences;
}

}  // namespace

std::string TextPart::words() const {
  return (column > 0 ? fmt::format(", column {}", column) : "") + (lines > 0 ? fmt::format(", {} lines", lines) : "") +
         (join > 1 ? fmt::format(", join {}", join) : "");
}

std::string copy_name(const std::string& text, const std::filesystem::path& file) {
  return fmt::format("{}.{}", text, file.filename().string());
}

Lines read_part(const std::filesystem::path& file, const TextPart& part) {
  Lines lines = data::read_lines(file);
  if (part.column > 0) {
    while (!lines.empty() && lines.back().empty()) {  // an end says nothing of what stands before
      lines.pop_back();
    }
    const bool has_words = std::ranges::find(lines, "") != lines.end();
    lines = column_of(lines, part.column, file.string());
    lines = has_words ? sentences_of(lines) : lines;
  }
  if (part.lines > 0) {
    base::check_usage(part.lines <= lines.size(), "{}: has {} lines, the study wants its first {}", file.string(),
                      lines.size(), part.lines);
    lines.resize(part.lines);
  }
  if (part.join > 1) {
    base::check_usage(part.join <= lines.size(), "{}: has {} lines, the study joins {}", file.string(), lines.size(),
                      part.join);
    lines = consecutive(lines, static_cast<int64_t>(part.join));
  }
  return lines;
}

}  // namespace dragoman::study
