#include "cli/study_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest_name.h"

namespace dragoman::cli {
namespace {

using base::check_usage;
using study::OptionList;
using study::Stage;
using study::StageKind;

// What each kind of stage needs.
void check_stage(const Stage& stage, const std::string& place) {
  const std::string kind(base::name_of(stage.kind));
  const auto need = [&](bool has, const char* what) {
    check_usage(has, "{}: stage {} ({}) needs {}", place, stage.name, kind, what);
  };
  if (stage.kind == StageKind::kTrain) {
    need(stage.text.empty() != (stage.source.empty() || stage.target.empty()), "source and target, or text");
  } else if (stage.kind == StageKind::kFilter) {
    need(!stage.source.empty() && !stage.target.empty(), "source and target");
    need(stage.model.empty() != stage.nearest_to.empty(), "a model that scores, or nearest-to");
  } else {
    need(!stage.model.empty(), stage.kind == StageKind::kDistill ? "a teacher" : "a model");
    if (stage.kind == StageKind::kBackTranslate) {
      need(!stage.target.empty() && stage.source.empty(), "target, the text to translate, and no source");
    } else {
      need(!stage.source.empty() && stage.target.empty(), "source, the text to translate, and no target");
    }
  }
}

}  // namespace

CommandOptions::CommandOptions(void (*add)(CLI::App&, Run&), const std::vector<std::string>& own) {
  add(app_, run_);
  command_ = app_.get_subcommands([](CLI::App*) { return true; }).front();
  for (const std::string& name : option_names(*command_)) {
    if (std::ranges::count(own, name) == 0) {
      names_.push_back(name);
    }
  }
}

StudyParts::StudyParts(std::string file)
    : StudyYaml(std::move(file)),
      train_(add_train_command, {"model", "source", "target", "valid-source", "valid-target", "text", "valid-text",
                                 "seed", "watch", "quiet"}),
      translate_(add_translate_command, {"model", "input", "output", "json", "quiet"}),
      score_(add_score_command, {"model", "source", "target", "text", "output", "json", "quiet"}) {}

const CommandOptions& StudyParts::of_stage(const Stage& stage) const {
  return stage.kind == StageKind::kTrain ? train_ : stage.translates() ? translate_ : score_;
}

OptionList StudyParts::options(const YAML::Node& node, const CommandOptions& command) const {
  OptionList list;
  for (const auto& [name, each] : entries(node, command.names(), "options")) {
    const std::vector<std::string> given = values(each, name);
    check_option_values(command.option(name), name, given, place(each));
    list.set(name, given);
  }
  return list;
}

Stage StudyParts::read_stage(const std::string& name, const YAML::Node& node) const {
  static const std::vector<std::string> known = {"do",      "source",     "target", "text", "nearest-to", "model",
                                                 "teacher", "start-from", "share",  "keep", "options"};
  Stage stage;
  stage.name = name;
  YAML::Node given_options;
  for (const auto& [key, each] : entries(node, known, name)) {
    if (key == "do") {
      stage.kind = kind_of(each);
    } else if (key == "options") {
      given_options = each;
    } else if (key == "share" || key == "keep") {
      const double share = value_as<double>(each, key, "a number");
      check_usage(share > 0.0 && share <= 1.0, "{}: {} is {}, must be above 0, to 1", place(each), key, share);
      (key == "share" ? stage.share : stage.keep) = share;
    } else if (key == "model" || key == "teacher") {
      stage.model = value(each, key);
    } else if (key == "start-from") {
      stage.start_from = value(each, key);
    } else {
      (key == "source"   ? stage.source
       : key == "target" ? stage.target
       : key == "text"   ? stage.text
                         : stage.nearest_to) = values(each, key);
    }
  }
  if (given_options.IsDefined() && !given_options.IsNull()) {
    stage.options = options(given_options, of_stage(stage));
  }
  check_stage(stage, place(node));
  return stage;
}

StageKind StudyParts::kind_of(const YAML::Node& node) const {
  const std::string name = value(node, "do");
  const std::vector<std::string> known = base::choices<StageKind>();
  check_usage(std::ranges::count(known, name) > 0,
              "{}: do is \"{}\", must be train, translate, distill, back-translate or filter{}", place(node), name,
              base::did_you_mean(name, known));
  return base::from_name<StageKind>(name);
}

study::Row StudyParts::read_row(const std::string& name, const YAML::Node& node) const {
  study::Row row;
  row.name = name;
  if (node.IsNull()) {
    return row;
  }
  check_usage(node.IsMap(), "{}: row {} must hold lines of the form \"option: value\"", place(node), name);
  for (const auto& entry : node) {
    const std::string key = entry.first.Scalar();
    const std::string line = place(entry.first);
    if (key == "about") {
      row.about = value(entry.second, key);
    } else if (key == "paper") {
      row.paper = value_as<double>(entry.second, key, "a number");
    } else if (entry.second.IsMap()) {  // the name of a stage
      row.stage_options[name_of(entry.first)] = options(entry.second, train_);
    } else {
      const std::string option = known_key(entry.first, train_.names(), line);
      const std::vector<std::string> given = values(entry.second, option);
      check_option_values(train_.option(option), option, given, line);
      row.options.set(option, given);
    }
  }
  return row;
}

std::vector<study::NamedOptions> StudyParts::named_options(const YAML::Node& node, const std::string& key,
                                                           const CommandOptions& command) const {
  std::vector<study::NamedOptions> named;
  for (const auto& [name, each] : entries(node, {}, key)) {
    named.emplace_back(name, each.IsNull() ? OptionList() : options(each, command));
  }
  return named;
}

}  // namespace dragoman::cli
