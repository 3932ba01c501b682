#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "study/texts.h"

namespace dragoman::study {

/// What a study takes of the file of a text.
struct TextPart {
  size_t column = 0;  ///< of a table, from 1; 0 = whole lines
  size_t lines = 0;   ///< the first ones, counted after the column is taken; 0 = all
  size_t join = 1;    ///< so many consecutive lines become one, with blanks between them, as `consecutive`

  bool is_whole() const { return column == 0 && lines == 0 && join == 1; }
  /// Returns a text that tells parts of a file apart: ", column 2, 2900 lines, join 2"; empty for the whole.
  std::string words() const;
};

/// Returns the name of the file for a copy of a text: "news.train.en".
std::string copy_name(const std::string& text, const std::filesystem::path& file);

/// Returns the lines of a part of a file. Tabs separate the columns of a table. If empty lines stand between
/// the lines of a table, each line holds a word: the words up to the next empty line make one line, with blanks between
/// them.
/// Throws: Error(kBadData), "train.tsv:3: has 1 columns, the study wants column 2"; Error(kUsage), "train.en: has 200
/// lines, the study wants its first 201", and "train.en: has 1 lines, the study joins 2"; as data::read_lines.
Lines read_part(const std::filesystem::path& file, const TextPart& part);

}  // namespace dragoman::study
