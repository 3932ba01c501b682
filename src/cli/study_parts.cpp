#include "cli/study_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/nearest_name.h"
#include "cli/usage_error.h"

namespace dragoman::cli {
namespace {

using base::check_usage;
using study::OptionList;
using study::Stage;
using study::StageKind;

const std::vector<std::string>& keys_of(StageKind kind) {
  static const std::vector<std::string> train = {"do", "source", "target", "text", "start-from", "share", "options"};
  static const std::vector<std::string> translate = {"do", "source", "model", "nearest-to", "options"};
  static const std::vector<std::string> distill = {"do", "source", "teacher", "model", "nearest-to", "options"};
  static const std::vector<std::string> back = {"do", "target", "model", "nearest-to", "options"};
  static const std::vector<std::string> filter = {"do", "source", "target", "model", "nearest-to", "keep", "options"};
  switch (kind) {
    case StageKind::kTrain:
      return train;
    case StageKind::kTranslate:
      return translate;
    case StageKind::kDistill:
      return distill;
    case StageKind::kBackTranslate:
      return back;
    case StageKind::kFilter:
      break;
  }
  return filter;
}

// What each kind of stage needs.
// @param has_keep  it says how much a filter keeps, if only all
void check_stage(const Stage& stage, bool has_keep, const std::string& place) {
  const auto need = [&](bool has, const char* what) {
    check_usage(has, "{}: stage {} ({}) needs {}", place, stage.name, base::name_of(stage.kind), what);
  };
  if (stage.kind == StageKind::kTrain) {
    need(stage.text.empty() != (stage.source.empty() || stage.target.empty()), "source and target, or text");
    need(stage.text.empty() || stage.source.size() + stage.target.size() == 0, "source and target, or text alone");
  } else if (stage.kind == StageKind::kFilter) {
    need(!stage.source.empty() && !stage.target.empty(), "source and target");
    need(!stage.model.empty() || !stage.nearest_to.empty(), "a model that scores, or nearest-to");
    check_usage(stage.model.empty() || stage.nearest_to.empty(), "{}: stage {} has a model and nearest-to; keep one",
                place, stage.name);
    need(has_keep, "keep, the share of the pairs that stay, such as 0.8");
  } else if (stage.kind == StageKind::kBackTranslate) {
    need(!stage.model.empty(), "a model");
    need(!stage.target.empty(), "target, the text to translate");
  } else {
    need(!stage.model.empty(), stage.kind == StageKind::kDistill ? "a teacher" : "a model");
    need(!stage.source.empty(), "source, the text to translate");
  }
}

// What a training of a study does not take as an option.
CommandOptions::Own own_of_train() {
  CommandOptions::Own own = {{"watch", ""}, {"quiet", ""}, {"seed", "seeds are named under seeds, for all rows"}};
  for (const char* text : {"source", "target", "text", "valid-source", "valid-target", "valid-text"}) {
    own[text] = "texts are named under texts, for all rows";
  }
  for (const char* model : {"model", "teacher"}) {
    own[model] = "models are named under models, and a training starts from one by initial-model";
  }
  return own;
}

}  // namespace

CommandOptions::CommandOptions(void (*add)(CLI::App&, Run&), Own own, std::vector<std::string> required)
    : add_(add), own_(std::move(own)), required_(std::move(required)) {
  add(app_, run_);
  command_ = app_.get_subcommands([](CLI::App*) { return true; }).front();
  for (const std::string& name : option_names(*command_)) {
    if (!own_.contains(name)) {
      names_.push_back(name);
    }
  }
}

void CommandOptions::check_name(const std::string& name, const std::string& place) const {
  const auto found = own_.find(name);
  if (found != own_.end() && !found->second.empty()) {
    base::fail(base::ErrorKind::kUsage, "{}: {} is no option here; {}", place, name, found->second);
  }
}

void CommandOptions::check(const OptionList& list, const std::string& place) const {
  CLI::App app;
  Run run;
  add_(app, run);
  std::vector<std::string> words = {app.get_subcommands([](CLI::App*) { return true; }).front()->get_name()};
  words.insert(words.end(), required_.begin(), required_.end());
  const std::vector<std::string> given = list.arguments();
  words.insert(words.end(), given.begin(), given.end());
  try {
    parse_words(app, words);
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}: {}", place, error.what());
  }
}

StudyParts::StudyParts(std::string file)
    : StudyYaml(std::move(file)),
      train_(add_train_command, own_of_train()),
      translate_(add_translate_command, {{"model", ""}, {"input", ""}, {"output", ""}, {"json", ""}, {"quiet", ""}},
                 {"--model=model"}),
      score_(add_score_command,
             {{"model", ""}, {"source", ""}, {"target", ""}, {"text", ""}, {"output", ""}, {"json", ""}, {"quiet", ""}},
             {"--model=model", "--source=text", "--target=text"}) {}

const CommandOptions& StudyParts::of_stage(const Stage& stage) const {
  return stage.kind == StageKind::kTrain ? train_ : stage.translates() ? translate_ : score_;
}

void StudyParts::check_values(const CLI::Option& option, const std::string& name,
                              const std::vector<std::string>& values, const std::string& place) try {
  check_option_values(option, name, values, place);
} catch (const base::Error& error) {
  base::fail(error.kind(), "{}{}", error.what(), values.size() == 1 ? decimal_hint(values.front()) : "");
}

OptionList StudyParts::options(const YAML::Node& node, const CommandOptions& command) const {
  OptionList list;
  if (node.IsMap()) {
    for (const auto& entry : node) {
      command.check_name(entry.first.Scalar(), place(entry.first));
    }
  }
  for (const auto& [name, each] : entries(node, command.names(), "options")) {
    const std::vector<std::string> given = values(each, name);
    check_values(command.option(name), name, given, place(each));
    list.set(name, given);
  }
  return list;
}

Stage StudyParts::read_stage(const std::string& name, const YAML::Node& node) const {
  Stage stage;
  stage.name = name;
  stage.place = place(node);
  stage.kind = kind_of(node, name);
  for (const auto& [key, each] : entries(node, keys_of(stage.kind), fmt::format("the stage {}", name))) {
    if (key == "options") {
      stage.options = each.IsNull() ? OptionList() : options(each, of_stage(stage));
      if (stage.kind != StageKind::kTrain) {  // a training has more options than these
        of_stage(stage).check(stage.options, place(each));
      }
    } else if (key == "share" || key == "keep") {
      const double share = value_as<double>(each, key, "a number");
      check_usage(share > 0.0 && share <= 1.0, "{}: {} is {}, must be above 0, to 1", place(each), key, share);
      (key == "share" ? stage.share : stage.keep) = share;
    } else if (key == "model" || key == "teacher") {
      check_usage(stage.model.empty(), "{}: stage {} has a teacher and a model; keep one", place(each), name);
      stage.model = value(each, key);
    } else if (key == "start-from") {
      stage.start_from = value(each, key);
    } else if (key != "do") {
      (key == "source"   ? stage.source
       : key == "target" ? stage.target
       : key == "text"   ? stage.text
                         : stage.nearest_to) = values(each, key);
    }
  }
  check_stage(stage, node["keep"].IsDefined(), place(node));
  return stage;
}

// Known first: it says which keys the stage takes.
StageKind StudyParts::kind_of(const YAML::Node& stage, const std::string& name) const {
  check_usage(stage.IsMap(), "{}: the stage {} must hold lines of the form \"name: value\"", place(stage), name);
  const YAML::Node node = stage["do"];
  const std::vector<std::string> known = base::choices<StageKind>();
  check_usage(node.IsDefined(), "{}: the stage {} needs do: {}", place(stage), name, fmt::join(known, ", "));
  const std::string kind = value(node, "do");
  check_usage(std::ranges::count(known, kind) > 0,
              "{}: do is \"{}\", must be train, translate, distill, back-translate or filter{}", place(node), kind,
              base::did_you_mean(kind, known));
  return base::from_name<StageKind>(kind);
}

study::Row StudyParts::read_row(const std::string& name, const YAML::Node& node, std::span<const Stage> stages) const {
  study::Row row;
  row.name = name;
  row.place = place(node);
  if (node.IsNull()) {
    return row;
  }
  check_usage(node.IsMap(), "{}: row {} must hold lines of the form \"option: value\"", place(node), name);
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = entry.first.Scalar();
    const std::string line = place(entry.first);
    check_usage(seen.insert(key).second, "{}: {} is given a second time; keep one", line, key);
    if (key == "about") {
      row.about = value(entry.second, key);
    } else if (key == "paper") {
      row.paper = value_as<double>(entry.second, key, "a number");
      check_usage(std::isfinite(*row.paper), "{}: paper is {}, must be finite", line, *row.paper);
    } else if (entry.second.IsMap()) {  // the name of a stage
      const std::string changed = name_of(entry.first);
      const auto stage = std::ranges::find(stages, changed, &Stage::name);
      row.stage_options[changed] = options(entry.second, stage == stages.end() ? train_ : of_stage(*stage));
    } else {
      check_is_no_decimal(entry.first, entry.second);
      train_.check_name(key, line);
      const std::string option = known_key(entry.first, train_.names(), line);
      const std::vector<std::string> given = values(entry.second, option);
      check_values(train_.option(option), option, given, line);
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
    command.check(named.back().second, place(each));
  }
  return named;
}

}  // namespace dragoman::cli
