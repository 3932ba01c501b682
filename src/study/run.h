#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/folder_lock.h"
#include "study/study.h"
#include "study/texts.h"

namespace dragoman::study {

/// One cell of the study: a row with a seed.
struct Cell {
  const Row* row = nullptr;
  uint64_t seed = 0;
  /// Returns: "row, seed 1".
  std::string name() const;
};

/// Runs a command of the program, "train", "--model=DIR", ..., with standard output to a file, or to where it goes
/// anyway if that is empty. Returns: the exit status.
using Program = std::function<int(const std::vector<std::string>& arguments, const std::filesystem::path& output)>;

/// The folder of a study: DIR/ROW/seed-N holds models, texts and marks of one cell. A finished step leaves a mark that
/// is written atomically, and is not done again. An interrupted training resumes bit for bit.
class StudyFolder {
 public:
  /// Makes the folder and takes its lock. Copies of the texts, in lower case or of their first lines, are made if the
  /// study wants them.
  /// Throws: Error(kUsage) if the folder holds a study of other texts.
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
  const std::filesystem::path& path() const { return folder_; }
  const std::filesystem::path& text(const std::string& name) const { return texts_.at(name); }

  /// Does all steps of a cell that have no mark yet. @param say  is told what is being done, and what failed
  /// Returns: 0, or the exit status of a command of the program that failed or was stopped by a signal.
  /// Throws: Error(kUsage) if a marked step was done with other options.
  int run(const Cell& cell, const Program& program, const std::function<void(const std::string&)>& say) const;
  bool is_done(const Cell& cell) const;

 private:
  /// One step of a cell. It is done again unless its mark has the same `asked`.
  struct Step {
    std::string name;
    std::vector<std::string> asked;
    std::function<void(const Program&)> act;
  };

  std::vector<Step> steps_of(const Cell& cell) const;
  Step train_step(const Cell& cell, const Stage& stage) const;
  Step translate_step(const Cell& cell, const Stage& stage) const;
  Step filter_step(const Cell& cell, const Stage& stage) const;
  Step tune_step(const Cell& cell) const;
  Step translations_step(const Cell& cell, size_t search) const;
  Step perplexity_step(const Cell& cell, size_t entry) const;
  std::vector<std::filesystem::path> files_of(const Cell& cell, const std::vector<std::string>& names) const;
  std::vector<double> scores_of(const Cell& cell, const Stage& stage, const Program& program,
                                const Lines& targets) const;
  std::filesystem::path mark_of(const Cell& cell, const std::string& step) const;
  std::optional<std::vector<std::string>> marked(const Cell& cell, const std::string& step) const;
  void keep_texts();
  void prepare_tests();

  const Study& study_;
  std::filesystem::path folder_;
  base::FolderLock lock_;
  std::map<std::string, std::filesystem::path> texts_;
  std::vector<TestSet> tests_;
};

/// Returns: the words of the training of a stage without its files: "train", its options and its seed.
std::vector<std::string> train_arguments(const Study& study, const Cell& cell, const Stage& stage);

}  // namespace dragoman::study
