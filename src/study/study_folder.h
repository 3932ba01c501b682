#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/folder_lock.h"
#include "study/study.h"
#include "study/texts.h"

namespace dragoman::study {

/// The file of a study's folder that tells its texts and models.
inline constexpr const char* kFactsName = "texts.json";

/// One cell of the study: a row with a seed.
struct Cell {
  const Row* row = nullptr;
  uint64_t seed = 0;
  /// Returns: "row, seed 1".
  std::string name() const;
};

/// The folder of a study: DIR/ROW/seed-N holds models, texts and marks of one cell. A finished step leaves a mark that
/// is written atomically, and is not done again. An interrupted training resumes bit for bit.
class StudyFolder {
 public:
  /// Makes the folder and takes its lock. Copies of the texts, in lower case or of their first lines, are made if the
  /// study wants them. Requires: what check_given checks.
  /// Throws: Error(kUsage) if the folder holds a study of other texts or given models.
  StudyFolder(const Study& study, std::filesystem::path folder);

  std::filesystem::path cell_folder(const Cell& cell) const;
  /// @param name  of a stage that trains, or of a given model
  std::filesystem::path model_of(const Cell& cell, const std::string& name) const;
  /// Returns: where the translations of a test set by a search stand, or its labels or tags.
  std::filesystem::path translations(const Cell& cell, const std::string& search, const std::string& test) const;
  /// Returns: where the seconds stand that these translations took, loading the model included.
  std::filesystem::path seconds(const Cell& cell, const std::string& search, const std::string& test) const;
  /// Returns: where the perplexity of a test set by an entry of Study::perplexities stands.
  std::filesystem::path perplexity(const Cell& cell, const std::string& name, const std::string& test) const;
  /// Returns: the validation text, then the test sets, in the form in which they are scored.
  const std::vector<TestSet>& tests() const { return tests_; }
  /// Returns: names and hashes of the tests, which tell when what was done with them is to be done again.
  const std::vector<std::string>& test_facts() const { return test_facts_; }
  const std::filesystem::path& path() const { return folder_; }
  bool has_text(const std::string& name) const { return texts_.contains(name); }
  const std::filesystem::path& text(const std::string& name) const { return texts_.at(name); }
  /// Returns: the file of a text of the study, or of one that a stage of this cell makes.
  std::filesystem::path file_of(const Cell& cell, const std::string& name) const;

  /// Returns: the seeds of the study, then others that the folder of a row has, in their order.
  std::vector<uint64_t> seeds_of(const Row& row) const;

  /// Throws: Error(kUsage) if the file of a text has changed since the study began.
  void check_texts() const;

  /// Makes the folders of a cell, which its steps write to.
  void prepare(const Cell& cell) const;
  /// Returns: what the mark of a step says was asked for, or nothing if the step is not done.
  std::optional<std::vector<std::string>> marked(const Cell& cell, const std::string& step) const;
  /// Returns: what a step under way was asked for, or nothing if none is under way.
  std::optional<std::vector<std::string>> begun(const Cell& cell, const std::string& step) const;
  /// Notes what a step is asked for before it is under way.
  void begin(const Cell& cell, const std::string& step, const std::vector<std::string>& asked) const;
  /// Removes the mark of a step, if there is one, before the step is done again.
  void unmark(const Cell& cell, const std::string& step) const;
  /// Marks a step as done.
  void mark(const Cell& cell, const std::string& step, const std::vector<std::string>& asked) const;

 private:
  std::filesystem::path mark_of(const Cell& cell, const std::string& step) const;
  std::filesystem::path begun_of(const Cell& cell, const std::string& step) const;
  void check_facts();
  void check_same_validation(const nlohmann::json& before) const;
  void keep_texts();
  void prepare_tests();

  const Study& study_;
  std::filesystem::path folder_;
  base::FolderLock lock_;
  std::map<std::string, std::filesystem::path> texts_;
  std::map<std::string, std::string> text_hashes_;  // of those that are read where they are
  std::vector<TestSet> tests_;
  std::vector<std::string> test_facts_;
};

}  // namespace dragoman::study
