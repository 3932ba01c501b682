#include "cli/study_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/field_json.h"
#include "base/nearest_name.h"
#include "cli/study_parts.h"
#include "cli/text_language.h"
#include "evaluation/read_text.h"
#include "study/search_check.h"
#include "study/study_check.h"

namespace dragoman::cli {
namespace {

using base::check_usage;
using study::Stage;
using study::Study;

class StudyReader : private StudyParts {
 public:
  StudyReader(const std::filesystem::path& path, std::filesystem::path corpus)
      : StudyParts(path.string()), corpus_(std::move(corpus)) {
    study_.name = path.stem().string();
    study_.title = study_.name;
  }

  Study read(const YAML::Node& tree, const std::vector<std::string>& changes) {
    check_usage(tree.IsMap(), "{}: must hold lines of the form \"key: value\"", file());
    read_variables(tree["variables"], changes);
    const Entries parts = entries(tree, kKeys, "");
    for (const bool is_stages : {true, false}) {  // rows name stages
      for (const auto& [key, node] : parts) {
        if ((key == "stages") == is_stages) {
          read_part(key, node);
        }
      }
    }
    finish(changes);
    return std::move(study_);
  }

 private:
  static inline const std::vector<std::string> kKeys = {
      "title",    "about", "variables", "texts", "tests",     "options", "stages",     "rows",
      "baseline", "seeds", "searches",  "tune",  "lowercase", "score",   "perplexity", "models"};
  static inline const std::vector<std::string> kScoreKeys = {"metrics",   "positive-label", "tokenize",
                                                             "lowercase", "minutes",        "reach"};

  void read_variables(const YAML::Node& node, const std::vector<std::string>& changes) {
    std::map<std::string, std::string> set;
    for (const std::string& change : changes) {
      const size_t equals = change.find('=');
      check_usage(equals != std::string::npos && equals > 0, "--set is \"{}\", must be NAME=VALUE", change);
      set[change.substr(0, equals)] = change.substr(equals + 1);
    }
    if (node.IsDefined()) {
      const Entries all = entries(node, {}, "variables");
      std::vector<std::string> names;
      std::ranges::transform(all, std::back_inserter(names), &Entries::value_type::first);
      expect_variables(names);
      for (const auto& [name, each] : all) {  // later ones may be made of earlier ones
        const auto found = set.find(name);
        variables()[name] =
            found == set.end() ? value(each, name) : filled(found->second, fmt::format("--set {}", name));
      }
    }
  }

  void read_part(const std::string& key, const YAML::Node& node) {
    if (key == "title") {
      study_.title = value(node, key);
    } else if (key == "about") {
      study_.about = value(node, key);
    } else if (key == "texts") {
      read_texts(node);
    } else if (key == "models") {
      for (const auto& [name, each] : entries(node, {}, key)) {
        study_.models[name] = value(each, name);
      }
    } else if (key == "tests") {
      read_tests(node);
    } else if (key == "options") {
      study_.options = options(node, of_train());
    } else if (key == "stages") {
      for (const auto& [name, stage] : entries(node, {}, key)) {
        study_.stages.push_back(read_stage(name, stage));
      }
      check_usage(!study_.stages.empty(), "{}: stages names none", place(node));
    } else if (key == "rows") {
      for (const auto& [name, row] : entries(node, {}, key)) {
        study_.rows.push_back(read_row(name, row, study_.stages));
      }
    } else if (key == "baseline") {
      study_.baseline = value(node, key);
    } else if (key == "seeds") {
      read_seeds(node);
    } else if (key == "searches") {
      read_searches(node);
    } else if (key == "tune") {
      study_.tune = flag(node, key);
    } else if (key == "lowercase") {
      study_.lowercase_text = flag(node, key);
    } else if (key == "score") {
      read_score(node);
    } else if (key == "perplexity") {
      study_.perplexities = named_options(node, key, of_score());
    }
  }

  std::filesystem::path text_path(const YAML::Node& node, const std::string& key) const {
    const std::filesystem::path path = corpus_ / value(node, key);  // an absolute path stays
    std::error_code missing;
    check_usage(std::filesystem::exists(path, missing),
                "{}: {} is {}, which is not there; --corpus DIR names the folder of the texts", place(node), key,
                path.string());
    return path;
  }

  void read_texts(const YAML::Node& node) {
    for (const auto& [name, text] : entries(node, {}, "texts")) {
      if (!text.IsMap()) {
        study_.texts[name] = text_path(text, name);
        continue;
      }
      for (const auto& [key, each] : entries(text, {"file", "column", "lines", "join"}, name)) {
        if (key == "file") {
          study_.texts[name] = text_path(each, name);
        } else {
          const auto number = value_as<int64_t>(each, key, "a whole number");
          check_usage(number >= 1, "{}: {} is {}, must be 1 or more", place(each), key, number);
          study::TextPart& part = study_.parts[name];
          (key == "lines" ? part.lines : key == "join" ? part.join : part.column) = static_cast<size_t>(number);
        }
      }
      check_usage(study_.texts.contains(name), "{}: {} needs a file", place(text), name);
    }
  }

  void read_tests(const YAML::Node& node) {
    for (const auto& [name, each] : entries(node, {}, "tests")) {
      study::TestSet test;
      test.name = name;
      for (const auto& [key, of_test] : entries(each, {"source", "target", "join", "text"}, name)) {
        if (key == "join") {
          test.join = value_as<int64_t>(of_test, key, "a whole number");
          check_usage(test.join >= 1, "{}: join is {}, must be 1 or more", place(of_test), test.join);
        } else {
          (key == "source" ? test.source : key == "target" ? test.target : test.text) = text_path(of_test, key);
        }
      }
      check_usage(test.text.empty() ? !test.source.empty() && !test.target.empty()
                                    : test.source.empty() && test.target.empty() && test.join == 1,
                  "{}: {} needs a source and a target, or a text alone with labels or tags", place(each), name);
      study_.tests.push_back(test);
    }
  }

  void read_seeds(const YAML::Node& node) {
    study_.seeds.clear();
    for (const std::string& text : values(node, "seeds")) {
      uint64_t seed = 0;
      check_usage(YAML::convert<uint64_t>::decode(YAML::Node(text), seed),
                  "{}: a seed is \"{}\", must be a whole number from 0 to {}", place(node), text,
                  std::numeric_limits<uint64_t>::max());
      study_.seeds.push_back(seed);
    }
  }

  void read_searches(const YAML::Node& node) {
    study_.searches = named_options(node, "searches", of_translate());
    for (const auto& [name, options] : study_.searches) {
      check_usage(options.find("nbest") == nullptr,
                  "{}: the search {} gives nbest; a test is scored by one translation of each line", place(node), name);
    }
    check_usage(!study_.searches.empty(), "{}: searches names none", place(node));
  }

  void read_score(const YAML::Node& node) {
    for (const auto& [key, each] : entries(node, kScoreKeys, "score")) {
      if (key == "lowercase") {
        study_.score.lowercase = flag(each, key);
      } else if (key == "positive-label") {
        study_.score.positive_label = value(each, key);
      } else if (key == "metrics") {
        read_metrics(each);
      } else if (key == "minutes") {
        read_minutes(each);
      } else if (key == "reach") {
        study_.reached_row = value(each, key);
      } else if (key == "tokenize") {
        read_tokenizer(each);
      }
    }
  }

  // By the language of the references, as `dragoman evaluate` does.
  void choose_metrics() {
    const auto given = study_.texts.find("valid-target");
    const std::filesystem::path reference = !study_.tests.empty()         ? study_.tests.front().target
                                            : given != study_.texts.end() ? given->second
                                                                          : std::filesystem::path();
    if (study_.has_searches() && !reference.empty()) {
      say_note(choose_metric_options([&](std::string_view flag) { return flag == "--tokenize" && has_tokenizer_; },
                                     evaluation::read_text(reference), "", study_.score));
    }
  }

  void read_tokenizer(const YAML::Node& node) {
    const std::string name = value(node, "tokenize");
    const std::vector<std::string> known = base::choices<evaluation::Tokenizer>();
    check_usage(std::ranges::count(known, name) > 0, "{}: tokenize is \"{}\", must be one of {}{}", place(node), name,
                fmt::join(known, ", "), base::did_you_mean(name, known));
    study_.score.tokenize = base::from_name<evaluation::Tokenizer>(name);
    has_tokenizer_ = true;
  }

  void read_minutes(const YAML::Node& node) {
    for (const std::string& text : values(node, "minutes")) {
      double minutes = 0.0;
      check_usage(YAML::convert<double>::decode(YAML::Node(text), minutes) && minutes > 0.0 && std::isfinite(minutes),
                  "{}: minutes are \"{}\", must be numbers above 0", place(node), text);
      study_.shown_minutes.push_back(minutes);
    }
  }

  void read_metrics(const YAML::Node& node) {
    const std::string names = CLI::detail::join(values(node, "metrics"), ",");
    try {
      study_.score.metrics = evaluation::parse_metrics(names);
    } catch (const base::Error& error) {
      base::fail(error.kind(), "{}: {}", place(node), error.what());
    }
    const evaluation::LineKind kind = study_.scored_lines();
    const bool is_one_kind = std::ranges::all_of(
        study_.score.metrics, [&](evaluation::MetricKind metric) { return evaluation::line_kind(metric) == kind; });
    std::set<evaluation::MetricKind> different(study_.score.metrics.begin(), study_.score.metrics.end());
    check_usage(different.size() == study_.score.metrics.size(), "{}: metrics names one twice", place(node));
    check_usage(is_one_kind && kind <= evaluation::LineKind::kTags,
                "{}: metrics must be of translations, of labels or of tags, and of one kind", place(node));
  }

  // @param change  of --set.  @param stage  that it names
  std::string unknown_stage(const std::string& change, const std::string& stage) const {
    std::vector<std::string> known;
    std::ranges::transform(study_.stages, std::back_inserter(known), &Stage::name);
    return fmt::format("--set {}: {}: no stage is called {}; stages: {}{}", change, file(), stage,
                       fmt::join(known, ", "), base::did_you_mean(stage, known));
  }

  // Lays an option of --set over the study or a stage.
  void change(const std::string& text) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    if (variables().contains(name)) {
      return;
    }
    const size_t dot = name.find('.');
    const auto stage = std::ranges::find(study_.stages, name.substr(0, dot), &Stage::name);
    const bool names_stage = dot != std::string::npos && stage != study_.stages.end();
    check_usage(names_stage || dot == std::string::npos, "{}", unknown_stage(text, name.substr(0, dot)));
    const CommandOptions& command = names_stage ? of_stage(*stage) : of_train();
    const std::string option = names_stage ? name.substr(dot + 1) : name;
    const std::string variable = names_stage ? "" : base::did_you_mean(option, variable_names());
    check_usage(std::ranges::count(command.names(), option) > 0,
                "--set {}: {} has no variable and no option of that name{}", text, file(),
                variable.empty() ? base::did_you_mean(option, command.names()) : variable);
    check_option_values(command.option(option), option, {value}, "--set");
    (names_stage ? stage->options : study_.options).set(option, {value});
  }

  // A task other than that of the metrics would be noticed after the trainings.
  void check_task_of_metrics(const std::string& task) const {
    const bool are_labels = study_.scored_lines() == evaluation::LineKind::kLabels;
    if (are_labels || study_.scored_lines() == evaluation::LineKind::kTags) {
      const char* needed = are_labels ? "classify" : "tag";
      check_usage(task == needed, "{}: the metrics are of {}, which task {} writes; the task is {}", file(),
                  are_labels ? "labels" : "tags", needed, task);
    }
  }

  // What is scored must be what the commands make of the tests.
  void check_tests(bool trains_on_text) const {
    const std::vector<std::string>* task = study_.options.find("task");
    const bool translates = !trains_on_text || (task != nullptr && task->front() == "text-to-text");
    const bool scores_translations = study_.scored_lines() == evaluation::LineKind::kTranslations;
    check_usage(
        scores_translations || (study_.searches.size() == 1 && study_.searches.front().second.options().empty()),
        "{}: searches are of translations, the metrics are of labels or tags", file());
    check_usage(scores_translations || trains_on_text,
                "{}: the metrics are of labels or tags, the trainings translate; name metrics of translations", file());
    check_usage(study_.perplexities.empty() || (scores_translations && translates),
                "{}: perplexity is of tests with a source and a target", file());
    if (task != nullptr) {  // else each row may have one
      check_task_of_metrics(task->front());
    }
    check_usage(scores_translations || !study_.lowercase_text,
                "{}: lowercase would change labels and tags; give texts in lower case instead", file());
    for (const study::TestSet& test : study_.tests) {
      check_usage(
          test.text.empty() || !scores_translations,
          "{}: test {} is a text with labels or tags; name their metrics under score, such as accuracy or span-f1",
          file(), test.name);
      check_usage(!test.text.empty() || translates,
                  "{}: test {} has a source and a target, the trainings read one text; give the test a text, or make "
                  "task text-to-text an option of all trainings",
                  file(), test.name);
    }
  }

  void finish(const std::vector<std::string>& changes) {
    const bool trains_on_text = study_.trains_on_text();
    const auto has = [&](const char* name) { return study_.texts.contains(name); };
    check_usage(trains_on_text || (has("source") && has("target")),
                "{}: texts must name source and target, or text for a language model", file());
    check_usage(has("valid-source") == has("valid-target"), "{}: texts must name both valid-source and valid-target",
                file());
    check_usage(!study_.tune || has("valid-source"), "{}: tune needs valid-source and valid-target", file());
    check_tests(trains_on_text);
    if (study_.stages.empty()) {
      Stage model;
      model.name = "model";
      (trains_on_text ? model.text : model.source) = {trains_on_text ? "text" : "source"};
      model.target = trains_on_text ? std::vector<std::string>() : std::vector<std::string>{"target"};
      study_.stages.push_back(model);
    }
    for (const std::string& text : changes) {
      change(text);
    }
    if (study_.baseline.empty() && !study_.rows.empty()) {
      study_.baseline = study_.rows.front().name;
    }
    const CLI::Option& initial_model = of_train().option("initial-model");
    study_.decided_by_start = {initial_model.get_lnames().front()};
    for (const CLI::Option* option : initial_model.get_excludes()) {
      study_.decided_by_start.insert(option->get_lnames().front());
    }
    study::check_study(study_);
    check_searches();
    check_text_stages();
    choose_metrics();
  }

  void check_searches() const {
    for (const auto& [name, options] : study_.searches) {
      study::check_search(study_, study_.last_stage().name, options, fmt::format("{}: the search {}", file(), name));
    }
  }

  // Options of a translation or filter in each row; the trainings are checked with their forecast.
  void check_text_stages() const {
    for (const study::Row& row : study_.rows) {
      for (const Stage& stage : study_.stages) {
        if (stage.kind == study::StageKind::kTrain) {
          continue;
        }
        const std::string place = fmt::format("{}: row {}, stage {}", study_.where(stage.place), row.name, stage.name);
        of_stage(stage).check(study_.text_options(row, stage), place);
        if (stage.translates()) {
          study::check_text_stage(study_, row, stage, place);
        }
      }
    }
  }

  std::filesystem::path corpus_;
  bool has_tokenizer_ = false;  // the file names that of BLEU
  Study study_;
};

}  // namespace

study::Study read_study(const std::filesystem::path& path, const std::filesystem::path& corpus,
                        const std::vector<std::string>& changes) {
  return StudyReader(path, corpus).read(read_study_tree(path), changes);
}

}  // namespace dragoman::cli
