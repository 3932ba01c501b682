#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/checked_folder.h"
#include "base/folder_writer.h"

namespace dragoman::test_support {

/// Returns: the content of one of three files. It tells its version, so that a mixture of versions is found.
inline std::string content_of(int version, int file, size_t bytes) {
  std::string text = std::to_string(version) + ":" + std::to_string(file) + ":";
  text.resize(bytes, static_cast<char>('a' + (version + file) % 26));
  return text;
}

inline void add_version(base::FolderWriter& writer, int version, size_t bytes = 4096) {
  for (int file = 0; file < 3; ++file) {
    writer.add("file" + std::to_string(file), content_of(version, file, bytes));
  }
}

/// Returns: the version in a folder. Fails the test if its files are of several versions.
inline int version_in(const base::CheckedFolder& folder) {
  const std::string first = folder.read("file0");
  const int version = std::stoi(first);
  for (int file = 0; file < 3; ++file) {
    EXPECT_EQ(folder.read("file" + std::to_string(file)), content_of(version, file, first.size()))
        << "files of two versions in " << folder.path();
  }
  return version;
}

}  // namespace dragoman::test_support
