#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>

namespace dragoman::test_support {

/// Returns: the path of a file of real text, such as "multi30k/val.en". The texts lie outside the repository, in the
/// folder that CMake's variable DRAGOMAN_CORPORA names.
inline std::filesystem::path corpus_file(const std::string& name) {
  return std::filesystem::path(DRAGOMAN_CORPORA) / name;
}

/// Returns: why a test on real text is skipped and what to do about it; empty when all files are there.
inline std::string missing_corpora(std::initializer_list<std::string> names) {
  std::string missing;
  for (const std::string& name : names) {
    if (!std::filesystem::exists(corpus_file(name))) {
      missing += (missing.empty() ? "" : ", ") + corpus_file(name).string();
    }
  }
  return missing.empty()
             ? ""
             : "no file " + missing + " (real text from outside the repository)" +
                   ". To run this test, configure with -DDRAGOMAN_CORPORA=FOLDER, where FOLDER/multi30k holds "
                   "the raw text of Multi30k (Elliott et al. 2016, task 1) and FOLDER/wmt-news-en-de the news "
                   "tests of WMT (sacrebleu -t wmt14 -l en-de --echo src >newstest2014.en)";
}

}  // namespace dragoman::test_support
