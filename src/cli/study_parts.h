#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/study_yaml.h"
#include "study/study.h"

namespace dragoman::cli {

/// The options of a command that a study may give: those that it does not give itself.
class CommandOptions {
 public:
  /// @param own  options that the study gives itself.  @param required  some of these, as words, without which
  /// the command refuses to start
  CommandOptions(void (*add)(CLI::App&, Run&), const std::vector<std::string>& own,
                 std::vector<std::string> required = {});

  const std::vector<std::string>& names() const { return names_; }
  const CLI::Option& option(const std::string& name) const { return *command_->get_option("--" + name); }
  /// Checks options together, as the command would before it reads a file.
  /// Throws: Error(kUsage), "study.yaml: line 3: --beam-size is 0, must be 1 to 128".
  void check(const study::OptionList& list, const std::string& place) const;

 private:
  void (*add_)(CLI::App&, Run&);
  std::vector<std::string> required_;
  CLI::App app_;
  Run run_;
  const CLI::App* command_ = nullptr;
  std::vector<std::string> names_;
};

/// Reads the parts of a study file that hold options of commands: stages, rows, searches.
class StudyParts : public StudyYaml {
 public:
  explicit StudyParts(std::string file);

  study::OptionList options(const YAML::Node& node, const CommandOptions& command) const;
  /// Returns: options of a command under names; a name may stand alone.
  std::vector<study::NamedOptions> named_options(const YAML::Node& node, const std::string& key,
                                                 const CommandOptions& command) const;
  study::Stage read_stage(const std::string& name, const YAML::Node& node) const;
  /// @param stages  of the study, which a row may change
  study::Row read_row(const std::string& name, const YAML::Node& node, std::span<const study::Stage> stages) const;

  const CommandOptions& of_train() const { return train_; }
  const CommandOptions& of_translate() const { return translate_; }
  const CommandOptions& of_score() const { return score_; }
  /// Returns: the options of the command that acts for a stage.
  const CommandOptions& of_stage(const study::Stage& stage) const;

 private:
  study::StageKind kind_of(const YAML::Node& stage, const std::string& name) const;

  CommandOptions train_, translate_, score_;
};

}  // namespace dragoman::cli
