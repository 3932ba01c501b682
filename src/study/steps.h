#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/study_folder.h"

namespace dragoman::study {

/// Runs a command of the program, "train", "--model=DIR", ..., with standard output to a file, or to where it goes
/// anyway if that is empty. Returns: the exit status.
using Program = std::function<int(const std::vector<std::string>& arguments, const std::filesystem::path& output)>;

/// One step of a cell: a stage, the tuning, or the test sets by one search. It is done if its mark has the same
/// `asked`.
struct Step {
  std::string name;
  std::vector<std::string> asked;
  /// Of what is done again where something else was asked for, since no training builds on it: the files that it
  /// writes. Empty for stages, whose work would be lost.
  std::vector<std::filesystem::path> outputs;
  /// Throws: CommandFailed.
  std::function<void(const Program&)> act;
  /// Of a training: the folder that it goes on from after an interruption. Empty for what begins anew.
  std::filesystem::path model{};
};

/// A command of the program that ended with another status than 0.
struct CommandFailed {
  int status;
  std::string words;
};

/// Returns: the steps of a cell, in their order. They read and write files of the folder, and refer to both.
std::vector<Step> steps_of(const Study& study, const StudyFolder& folder, const Cell& cell);

/// Returns: the words of the training of a stage without its files: "train", its options and its seed.
std::vector<std::string> train_arguments(const Study& study, const Cell& cell, const Stage& stage);

/// Returns the file of a text that a stage names on `side`, such as "source". For "valid-source", "valid-target" and
/// "valid-text", which are both the name and the side: nothing if the study has no such text.
using FileOf = std::function<std::filesystem::path(const std::string& name, const std::string& side)>;

/// Returns: the words of the training of a stage that name its texts. A stage that translates from the target to the
/// source (Study::is_reversed) has the validation text the other way round.
std::vector<std::string> text_arguments(const Study& study, const Stage& stage, const FileOf& file_of);

}  // namespace dragoman::study
