#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/vocabulary/vocabulary_trainer.h"

namespace dragoman::decoding {

inline const std::vector<std::string> kWords = {"house",  "mouse", "cat",   "dog", "runs",
                                                "sleeps", "red",   "green", "and", "the"};

/// Words, commas and full stops.
inline std::string random_line(base::Random& random, uint64_t words) {
  std::string line;
  for (uint64_t word = 0; word < words; ++word) {
    line += (word > 0 ? " " : "") + kWords[random.below(kWords.size())];
    line += random.below(6) == 0 ? "," : random.below(8) == 0 ? "." : "";
  }
  return line;
}

inline data::Vocabulary learn_from(const std::vector<std::string>& lines, const data::VocabularyOptions& options) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("dragoman_tiny_vocabulary." + std::to_string(getpid()));
  std::ofstream file(path);
  for (const std::string& line : lines) {
    file << line << '\n';
  }
  file.close();
  data::Vocabulary vocabulary = data::train_vocabulary({path}, options).vocabulary;
  std::filesystem::remove(path);
  return vocabulary;
}

/// 60 pieces of words, and those of all bytes where asked.
inline data::Vocabulary learn_vocabulary(bool byte_fallback = false) {
  base::Random random(1);
  std::vector<std::string> lines;
  for (int line = 0; line < 300; ++line) {
    lines.push_back(random_line(random, 1 + random.below(12)));
  }
  data::VocabularyOptions options;
  options.size = byte_fallback ? 60 + 256 : 60;
  options.byte_fallback = byte_fallback;
  return learn_from(lines, options);
}

/// 60 pieces learned from random lines.
inline const data::Vocabulary& vocabulary() {
  static const data::Vocabulary learned = learn_vocabulary();
  return learned;
}

}  // namespace dragoman::decoding
