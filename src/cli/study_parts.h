#pragma once

#include <map>
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
  /// Options that a study gives itself, and what a user should do who names one: "texts are named under texts". Empty:
  /// it is an option that a study does not know.
  using Own = std::map<std::string, std::string>;

  /// @param required  some of `own`, as words, without which the command refuses to start
  CommandOptions(void (*add)(CLI::App&, Run&), Own own, std::vector<std::string> required = {});

  /// Throws: Error(kUsage), "study.yaml: line 3: model is no option here; models are named under models, ...", so that
  /// an option near the name is not proposed.
  void check_name(const std::string& name, const std::string& place) const;
  const std::vector<std::string>& names() const { return names_; }
  const CLI::Option& option(const std::string& name) const { return *command_->get_option("--" + name); }
  /// Checks options together, as the command would before it reads a file.
  /// Throws: Error(kUsage), "study.yaml: line 3: --beam-size is 0, must be 1 to 128".
  void check(const study::OptionList& list, const std::string& place) const;

 private:
  void (*add_)(CLI::App&, Run&);
  Own own_;
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
  /// As cli::check_option_values, with a word on decimal commas.
  static void check_values(const CLI::Option& option, const std::string& name, const std::vector<std::string>& values,
                           const std::string& place);
  study::StageKind kind_of(const YAML::Node& stage, const std::string& name) const;

  CommandOptions train_, translate_, score_;
};

}  // namespace dragoman::cli
