#include "study/given.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest_name.h"
#include "data/text/labelled_text.h"
#include "data/text/text_file.h"
#include "evaluation/evaluate.h"
#include "evaluation/read_text.h"
#include "models/model_folder.h"
#include "study/texts.h"

namespace dragoman::study {
namespace {

namespace fs = std::filesystem;
using base::check_usage;

class Given {
 public:
  explicit Given(const Study& study) : study_(study) {}

  void check() {
    for (const auto& [name, path] : study_.texts) {
      lines_[name] = lines_of_part(name, path);
    }
    check_pair("the validation text", {"valid-source"}, {"valid-target"});
    check_validation();
    for (const Stage& stage : study_.stages) {
      check_stage(stage);
    }
    for (const TestSet& test : study_.tests) {
      check_test(test);
    }
  }

 private:
  void check_is_file(const fs::path& path, const std::string& owner) const {
    std::error_code unknown;
    check_usage(!fs::is_directory(path, unknown), "study {}: {} is {}, which is a folder; name a file", study_.name,
                owner, path.string());
  }

  size_t lines_of_part(const std::string& name, const fs::path& path) const {
    check_is_file(path, "the text " + name);
    const TextPart part = study_.part_of(name);
    return part.is_whole() ? data::count_lines(path) : read_part(path, part).size();
  }

  // Of texts that stages make nothing is known yet.
  std::optional<size_t> lines_of(const std::vector<std::string>& names) const {
    size_t sum = 0;
    for (const std::string& name : names) {
      const auto found = lines_.find(name);
      if (found == lines_.end()) {
        return std::nullopt;
      }
      sum += found->second;
    }
    return sum;
  }

  void check_pair(const std::string& owner, const std::vector<std::string>& source,
                  const std::vector<std::string>& target) const {
    const std::optional<size_t> first = lines_of(source), second = lines_of(target);
    if (first.has_value() && second.has_value() && !source.empty() && !target.empty()) {
      check_usage(*first == *second,
                  "study {}: {}: {} has {} lines, {} {}; they must translate each other line by line", study_.name,
                  owner, fmt::join(source, " + "), *first, fmt::join(target, " + "), *second);
    }
  }

  void check_stage(const Stage& stage) {
    const std::string owner = "stage " + stage.name;
    if (stage.kind == StageKind::kTrain || stage.kind == StageKind::kFilter) {
      check_pair(owner, stage.source, stage.target);
    }
    const auto& read = stage.input_texts();
    if (!stage.nearest_to.empty()) {
      check_pair(owner, read, stage.nearest_to);
    }
    if (const auto lines = lines_of(read); stage.kind == StageKind::kFilter && lines.has_value()) {
      check_usage(lines_of_share(*lines, stage.keep) > 0,
                  "{}: stage {} keeps {:g} of {} lines, which is none; keep more", study_.where(stage.place),
                  stage.name, stage.keep, *lines);
    }
    if (const auto lines = lines_of(read); stage.translates() && lines.has_value()) {
      lines_[stage.name] = *lines;
    }
  }

  // The validation text is scored as a test set is.
  void check_validation() const {
    const auto text = [&](const char* name) {
      const auto found = study_.texts.find(name);
      return found == study_.texts.end() ? fs::path() : found->second;
    };
    if (study_.has_searches()) {
      for (const char* name : {"valid-source", "valid-target"}) {
        check_is_text(text(name));
      }
    } else if (!text("valid-text").empty() && study_.part_of("valid-text").is_whole()) {
      check_reference(text("valid-text"));
    }
  }

  // Bytes that are no text would be noticed when translations are scored.
  static void check_is_text(const fs::path& path) {
    if (!path.empty()) {
      [[maybe_unused]] const evaluation::Text text = evaluation::read_text(path);
    }
  }

  void check_test(const TestSet& test) const {
    const std::string owner = "test " + test.name;
    if (!test.text.empty()) {
      check_is_file(test.text, owner);
      check_usage(data::count_lines(test.text) > 0, "study {}: {}: {} is empty", study_.name, owner,
                  test.text.string());
      check_reference(test.text);
      return;
    }
    check_is_file(test.source, owner);
    check_is_file(test.target, owner);
    check_is_text(test.source);
    check_is_text(test.target);
    const size_t source = data::count_lines(test.source), target = data::count_lines(test.target);
    check_usage(source == target, "study {}: {}: {} has {} lines, {} {}; they must translate each other line by line",
                study_.name, owner, test.source.string(), source, test.target.string(), target);
    check_usage(source >= static_cast<size_t>(test.join), "study {}: {}: {} has {} lines, which is less than join: {}",
                study_.name, owner, test.source.string(), source, test.join);
  }

  // Lines without labels or tags, and a label that no line has, would be noticed after the trainings. A metric takes a
  // line without a tab for a label.
  void check_reference(const fs::path& path) const {
    if (study_.scored_lines() == evaluation::LineKind::kTags) {
      [[maybe_unused]] const auto sentences = data::read_tagged_words({path});
    } else {
      [[maybe_unused]] const auto texts = data::read_labelled_texts({path});
    }
    const evaluation::Text text = evaluation::read_text(path);
    const std::vector<std::string> lines = evaluation::relevant_lines(text, study_.scored_lines(), text);
    const evaluation::Lines all[] = {lines};
    for (const evaluation::MetricKind kind : study_.score.metrics) {
      [[maybe_unused]] const auto metric = evaluation::make_metric(kind, study_.score, all);
    }
  }

  const Study& study_;
  std::map<std::string, size_t> lines_;  // of the given texts
};

// Files that options of these rows and of searches name, each once. Models are not among them.
std::vector<std::string> absent_option_files(const Study& study, std::span<const Row* const> rows) {
  std::vector<std::string> said;
  std::set<fs::path> seen;
  const auto check = [&](const std::string& owner, const OptionList& options) {
    for (const auto& [option, path] : study.files_named_by(options)) {
      if (!option.ends_with("-model") && !base::path_exists(path) && seen.insert(path).second) {
        said.push_back(fmt::format("study {}: {}: --{} is {}, which is not there; correct the name, or make the file",
                                   study.name, owner, option, path.string()));
      }
    }
  };
  for (const Row* row : rows) {
    for (const Stage& stage : study.stages) {
      check(fmt::format("row {}, stage {}", row->name, stage.name),
            stage.kind == StageKind::kTrain ? study.options_of(*row, stage) : study.text_options(*row, stage));
    }
  }
  for (const auto* named : {&study.searches, &study.perplexities}) {
    for (const auto& [name, options] : *named) {
      check("search " + name, options);
    }
  }
  return said;
}

// What to do about a model that is not there: another study may make it.
std::string remedy(const fs::path& model) {
  std::string before;
  for (const fs::path& part : model) {
    if (before == "studies") {
      return fmt::format("it is of the study {}, run that first", part.string());
    }
    before = part.string();
  }
  return "correct the folder, or train the model first";
}

// The models that an option of a search may name: those that are given, then those of stages.
std::vector<std::string> model_names(const Study& study) {
  std::vector<std::string> names;
  for (const auto& [name, folder] : study.models) {
    names.push_back(name);
  }
  for (const Stage& stage : study.stages) {
    if (stage.kind == StageKind::kTrain) {
      names.push_back(stage.name);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> absent_files(const Study& study, std::span<const Row* const> rows) {
  std::vector<std::string> said = absent_option_files(study, rows);
  const auto check = [&](const std::string& owner, const fs::path& model) {
    if (!base::path_exists(model / models::kWeightsName)) {
      said.push_back(fmt::format("study {}: {} is {}, where no {} is; {}", study.name, owner, model.string(),
                                 models::kWeightsName, remedy(model)));
    }
  };
  for (const auto& [name, model] : study.models) {
    check("the model " + name, model);
  }
  for (const Row* row : rows) {
    for (const Stage& stage : study.stages) {
      const OptionList options = stage.kind == StageKind::kTrain ? study.options_of(*row, stage) : OptionList();
      if (const auto* initial = options.find("initial-model"); initial != nullptr) {
        check(fmt::format("the initial model of row {}", row->name), initial->front());
      }
    }
  }
  for (const auto& [name, options] : study.searches) {
    const auto* reverse = options.find("reverse-model");
    if (reverse == nullptr || study.names_model(reverse->front())) {
      continue;
    }
    const bool is_name = reverse->front().find('/') == std::string::npos && !base::path_exists(reverse->front());
    if (is_name) {
      said.push_back(fmt::format(
          "study {}: the search {}: --reverse-model is {}, but no stage that trains, no given model and no folder has "
          "this name; models: {}{}",
          study.name, name, reverse->front(), fmt::join(model_names(study), ", "),
          base::did_you_mean(reverse->front(), model_names(study))));
    } else {
      check("the reverse model of the search " + name, reverse->front());
    }
  }
  return said;
}

void check_given(const Study& study) {
  Given(study).check();
}

}  // namespace dragoman::study
