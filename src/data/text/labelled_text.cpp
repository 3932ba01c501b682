#include "data/text/labelled_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "data/text/text_file.h"

namespace dragoman::data {
namespace {

bool holds_nothing(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

// Calls use(line, place) for each line of all files; `end_file` stands between files.
template <typename Use, typename EndFile>
void for_each_line(const std::vector<std::filesystem::path>& files, Use use, EndFile end_file) {
  for (const std::filesystem::path& file : files) {
    LineReader reader(file);
    for (std::string line; reader.next(line);) {
      use(line, fmt::format("{}:{}", file.string(), reader.lines_read()));
    }
    end_file();
  }
}

LabelledText labelled_text(const std::string& line, const std::string& place, size_t& columns) {
  std::vector<std::string> parts = columns_of(line);
  base::check_data(parts.size() == 2 || parts.size() == 3,
                   "{}: has {} column{}, must be a label and a text or two texts, with a tab between them", place,
                   parts.size(), parts.size() == 1 ? "" : "s");
  columns = columns == 0 ? parts.size() : columns;
  base::check_data(parts.size() == columns, "{}: has {} columns, the lines before have {}; {}", place, parts.size(),
                   columns,
                   parts.size() < columns ? "half of a pair is missing" : "give pairs on all lines or on none");
  base::check_data(!holds_nothing(parts[0]), "{}: the label is empty; it stands in the first column", place);
  for (size_t column = 1; column < parts.size(); ++column) {
    base::check_data(!holds_nothing(parts[column]), "{}: the {} is empty", place,
                     parts.size() == 2 ? "text" : (column == 1 ? "first text" : "second text"));
  }
  LabelledText text{std::move(parts[0]), {std::move(parts[1]), std::nullopt}, place};
  if (parts.size() == 3) {
    text.text.second = std::move(parts[2]);
  }
  return text;
}

}  // namespace

std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> columns;
  size_t begin = 0;
  for (size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t', begin)) {
    columns.emplace_back(line.substr(begin, tab - begin));
    begin = tab + 1;
  }
  columns.emplace_back(line.substr(begin));
  return columns;
}

std::vector<std::string_view> words_within(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kSpaces = " \t";
  for (size_t begin = line.find_first_not_of(kSpaces); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpaces, end);
  }
  return words;
}

std::vector<std::string> words_of_line(std::string_view line) {
  const std::vector<std::string_view> words = words_within(line);
  return {words.begin(), words.end()};
}

TextOrPair text_or_pair(std::string_view line, const std::string& place) {
  std::vector<std::string> parts = columns_of(line);
  base::check_data(parts.size() <= 2, "{}: has {} columns, must be a text or two texts with a tab between them", place,
                   parts.size());
  if (parts.size() == 1) {
    return {std::move(parts[0]), std::nullopt};
  }
  for (size_t half = 0; half < 2; ++half) {
    base::check_data(!holds_nothing(parts[half]), "{}: the {} text is empty; a pair needs both", place,
                     half == 0 ? "first" : "second");
  }
  return {std::move(parts[0]), std::move(parts[1])};
}

std::vector<LabelledText> read_labelled_texts(const std::vector<std::filesystem::path>& files) {
  std::vector<LabelledText> texts;
  size_t columns = 0;
  for_each_line(
      files,
      [&](const std::string& line, const std::string& place) { texts.push_back(labelled_text(line, place, columns)); },
      [] {});
  base::check_data(!texts.empty(), "{}: holds no text", files.empty() ? "input" : files.front().string());
  return texts;
}

std::vector<TaggedWords> read_tagged_words(const std::vector<std::filesystem::path>& files, bool needs_tags) {
  std::vector<TaggedWords> sentences;
  bool is_inside = false;
  const auto end = [&] { is_inside = false; };
  for_each_line(
      files,
      [&](const std::string& line, const std::string& place) {
        if (holds_nothing(line)) {
          return end();
        }
        std::vector<std::string> columns =
            line.find('\t') == std::string::npos ? words_of_line(line) : columns_of(line);
        base::check_data(!needs_tags || (columns.size() >= 2 && !holds_nothing(columns.back())),
                         "{}: has {}, must be a word and its tag; a tab or a blank stands between them", place,
                         columns.size() < 2 ? "1 column" : "an empty tag");
        if (!is_inside) {
          sentences.push_back({{}, {}, place});
          is_inside = true;
        }
        sentences.back().words.push_back(std::move(columns.front()));
        if (needs_tags) {
          sentences.back().tags.push_back(std::move(columns.back()));
        }
      },
      end);
  base::check_data(!sentences.empty(), "{}: holds no word", files.empty() ? "input" : files.front().string());
  return sentences;
}

}  // namespace dragoman::data
