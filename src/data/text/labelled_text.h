#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::data {

/// A text, or two texts that are read together.
struct TextOrPair {
  std::string first;
  std::optional<std::string> second;
};

/// One example of a classifier.
struct LabelledText {
  std::string label;
  TextOrPair text;
  std::string place;  ///< "data/train.tsv:17"
};

/// A sentence in words, with a tag for each; `tags` is empty where there are none.
struct TaggedWords {
  std::vector<std::string> words;
  std::vector<std::string> tags;
  std::string place;  ///< of the first word
};

/// Returns the columns of a line, which tabs separate.
std::vector<std::string> columns_of(std::string_view line);

/// Returns a text, or a pair of texts with a tab between them.
/// Throws: Error(kBadData), "input:3: the second text is empty; ...", "input:3: has 3 columns, must be ...".
TextOrPair text_or_pair(std::string_view line, const std::string& place);

/// Reads files with the columns label, text and, on all lines or on none, a second text. Tabs separate columns; a quote
/// is a part of the text. Empty lines are an error.
/// Throws: Error(kBadData) as LineReader, and "train.tsv:17: has 2 columns, the lines before have 3; half of a pair is
/// missing".
std::vector<LabelledText> read_labelled_texts(const std::vector<std::filesystem::path>& files);

/// Reads files with one word a line and an empty line behind each sentence. The first column is the word, the last one
/// its tag. Tabs separate columns or, in a line without any, blanks, as in the files of CoNLL.
/// @param needs_tags  false: a line may hold a word alone, and tags are left out
/// Throws: Error(kBadData) as LineReader, and "train.tsv:17: has 1 column, must be a word and its tag".
std::vector<TaggedWords> read_tagged_words(const std::vector<std::filesystem::path>& files, bool needs_tags = true);

/// Returns the words of a line, which blanks and tabs separate, as parts of the line.
std::vector<std::string_view> words_within(std::string_view line);
/// Returns copies of these words.
std::vector<std::string> words_of_line(std::string_view line);

}  // namespace dragoman::data
