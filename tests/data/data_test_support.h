#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/vocabulary/vocabulary_trainer.h"

namespace dragoman::data {

/// A folder for the files of one test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "dragoman-data-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// Runs `action`, which must throw base::Error of this kind; returns its text.
template <typename Action>
std::string error_of(base::ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const base::Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

inline const std::vector<std::string>& toy_words() {
  static const std::vector<std::string> words = {"haus", "maus",  "katze", "hund", "läuft", "schläft", "rot",  "grün",
                                                 "groß", "klein", "und",   "der",  "die",   "das",     "nicht"};
  return words;
}

/// Lines of 1 to `most_words` words drawn from a small vocabulary.
inline std::string toy_text(int lines, uint64_t seed, uint64_t most_words = 12) {
  base::Random random(seed);
  std::string text;
  for (int line = 0; line < lines; ++line) {
    const uint64_t words = 1 + random.below(most_words);
    for (uint64_t word = 0; word < words; ++word) {
      text += (word > 0 ? " " : "") + toy_words()[random.below(toy_words().size())];
    }
    text += "\n";
  }
  return text;
}

/// A small vocabulary learned from toy text.
inline Vocabulary toy_vocabulary(VocabularyOptions::Type type = VocabularyOptions::Type::kUnigram,
                                 bool byte_fallback = false) {
  const TemporaryFolder folder;
  VocabularyOptions options;
  options.type = type;
  options.size = byte_fallback ? 330 : 70;
  options.byte_fallback = byte_fallback;
  return train_vocabulary({folder.write("toy.txt", toy_text(400, 1))}, options).vocabulary;
}

}  // namespace dragoman::data
