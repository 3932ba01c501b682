#include "study/study_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/nearest_name.h"
#include "study/direction_check.h"

namespace dragoman::study {
namespace {

using base::check_usage;

// Checks the stages in their order: each uses what is given or what an earlier stage made.
class StageNames {
 public:
  explicit StageNames(const Study& study) : study_(study) {
    for (const auto& [name, path] : study.texts) {
      texts_.push_back(name);
    }
    for (const auto& [name, path] : study.models) {
      models_.push_back(name);
    }
  }

  void check(const Stage& stage) {
    check_free(stage, stage.name);
    if (stage.kind == StageKind::kFilter) {
      check_free(stage, stage.name + ".source");
      check_free(stage, stage.name + ".target");
    }
    for (const auto* names : {&stage.source, &stage.target, &stage.text, &stage.nearest_to}) {
      for (const std::string& text : *names) {
        check_known(stage, "text", text, texts_);
      }
    }
    for (const std::string& model : {stage.model, stage.start_from}) {
      if (!model.empty()) {
        check_known(stage, "model", model, models_);
      }
    }
    if (stage.kind == StageKind::kTrain) {
      models_.push_back(stage.name);
    } else if (stage.kind == StageKind::kFilter) {
      texts_.push_back(stage.name + ".source");
      texts_.push_back(stage.name + ".target");
    } else {
      texts_.push_back(stage.name);
    }
  }

 private:
  void check_free(const Stage& stage, const std::string& name) const {
    const bool is_text = std::ranges::count(texts_, name) > 0, is_model = std::ranges::count(models_, name) > 0;
    check_usage(!is_text && !is_model, "{}: two things are called \"{}\": the stage {} and a {}; rename one",
                study_.where(stage.place), name, stage.name, is_text ? "text" : "model");
  }

  bool is_made(const std::string& name) const {
    return std::ranges::any_of(study_.stages, [&](const Stage& stage) {
      const bool is_filter = stage.kind == StageKind::kFilter;
      return is_filter ? name == stage.name + ".source" || name == stage.name + ".target" : name == stage.name;
    });
  }

  void check_known(const Stage& stage, const char* what, const std::string& name,
                   const std::vector<std::string>& known) const {
    if (std::ranges::count(known, name) > 0) {
      return;
    }
    const std::string use =
        fmt::format("{}: stage {} uses the {} \"{}\"", study_.where(stage.place), stage.name, what, name);
    const bool is_other = std::ranges::count(texts_, name) + std::ranges::count(models_, name) > 0;
    check_usage(!is_other, "{}, which is no {}; each {} before this stage: {}", use, what, what,
                known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    check_usage(!is_made(name), "{}, which {} makes; name what an earlier stage makes, or change their order", use,
                name == stage.name ? "the stage itself" : "a later stage");
    base::fail(base::ErrorKind::kUsage, "{}, which is neither given nor made by an earlier stage{}", use,
               base::did_you_mean(name, known));
  }

  const Study& study_;
  std::vector<std::string> texts_, models_;
};

// The files that things of a study become, in one folder.
class FolderNames {
 public:
  explicit FolderNames(const Study& study) : study_(study) {}

  // @param owner  "the stage a"
  void add(const std::string& file, const std::string& owner) {
    constexpr size_t kLongest = 200;  // file systems take 255 bytes, endings included
    check_usage(file.size() <= kLongest, "study {}: the name of {} is too long; {} letters are the most for {}",
                study_.name, owner, kLongest, file);
    const auto [other, is_new] = owners_.emplace(file, owner);
    check_usage(is_new, "study {}: {} and {} would both be {}; rename one", study_.name, other->second, owner, file);
  }

 private:
  const Study& study_;
  std::map<std::string, std::string> owners_;
};

std::vector<std::string> test_names(const Study& study) {
  std::vector<std::string> names;
  if (study.texts.contains("valid-source") || study.texts.contains("valid-text")) {
    names.emplace_back("validation");
  }
  std::ranges::transform(study.tests, std::back_inserter(names), &TestSet::name);
  return names;
}

void add_stage(const Stage& stage, FolderNames& files) {
  const std::string owner = "the stage " + stage.name;
  if (stage.kind == StageKind::kTrain) {
    files.add(stage.name, owner);
    return;
  }
  const std::vector<std::string> of_filter = {"source.txt", "target.txt", "input", "output", "scores"};
  const std::vector<std::string> of_translation = {"txt", "txt.hypotheses", "txt.input"};
  for (const std::string& ending : stage.kind == StageKind::kFilter ? of_filter : of_translation) {
    files.add(fmt::format("{}.{}", stage.name, ending), owner);
  }
}

// The folder of a run.
void check_cell(const Study& study) {
  FolderNames files(study);
  files.add("done", "the folder of marks");
  for (const Stage& stage : study.stages) {
    add_stage(stage, files);
  }
  for (const std::string& test : test_names(study)) {
    const std::string owner = "the test " + test;
    for (const auto& [search, options] : study.searches) {
      files.add(fmt::format("{}.{}.txt", test, search), fmt::format("{} by the search {}", owner, search));
    }
    for (const auto& [name, options] : study.perplexities) {
      files.add(fmt::format("{}.{}.perplexity", test, name), fmt::format("{} by the perplexity {}", owner, name));
    }
  }
}

// Marks of steps.
void check_marks(const Study& study) {
  FolderNames marks(study);
  for (const Stage& stage : study.stages) {
    marks.add(stage.name + ".json", "the stage " + stage.name);
  }
  marks.add("tune.json", "tuning");
  for (const auto& [search, options] : study.searches) {
    marks.add(fmt::format("search-{}.json", search), "the search " + search);
  }
  for (const auto& [name, options] : study.perplexities) {
    marks.add(fmt::format("perplexity-{}.json", name), "the perplexity " + name);
  }
}

// The folder of the study.
void check_rows(const Study& study) {
  FolderNames files(study);
  for (const char* own : {"report.md", "report.html", "results.json", "texts.json", "texts", "tests"}) {
    files.add(own, "a file of each study");
  }
  for (const Row& row : study.rows) {
    files.add(row.name, "the row " + row.name);
  }
}

// Copies of texts in a folder of the study.
void check_copies(const Study& study) {
  FolderNames files(study);
  for (const auto& [name, path] : study.texts) {
    if (study.copies(name)) {
      files.add(copy_name(name, path), "the text " + name);
    }
  }
}

void check_names(const Study& study) {
  StageNames names(study);
  for (const Stage& stage : study.stages) {
    names.check(stage);
  }
  check_copies(study);
  check_cell(study);
  check_marks(study);
  check_rows(study);
}

constexpr double kAllShares = 1.0 + 1e-9;  // sums of decimals round

// What a row changes must reach a training of it: weights to start from decide shape and vocabulary.
void check_has_effect(const Study& study, const Row& row) {
  std::vector<OptionList> trainings;
  for (const Stage& stage : study.stages) {
    if (stage.kind == StageKind::kTrain) {
      trainings.push_back(study.options_of(row, stage));
    }
  }
  for (const OptionList::Option& option : row.options.options()) {
    const bool reaches =
        std::ranges::any_of(trainings, [&](const OptionList& options) { return options.find(option.name) != nullptr; });
    check_usage(reaches, "{}: row {} changes --{}, but each training starts from weights that decide it; leave it out",
                study.where(row.place), row.name, option.name);
  }
}

// Weights to start from decide shape and vocabulary. @param place  of the options
void check_start(const Study& study, const Stage& stage, const OptionList& options, const std::string& place) {
  for (const OptionList::Option& option : options.options()) {
    check_usage(stage.start_from.empty() || !study.decided_by_start.contains(option.name),
                "{}: stage {} starts from {}, which decides --{}; leave it out", study.where(place), stage.name,
                stage.start_from, option.name);
  }
}

void check_starts(const Study& study) {
  for (const Stage& stage : study.stages) {
    check_start(study, stage, stage.options, stage.place);
    for (const Row& row : study.rows) {
      check_start(study, stage, row.changes_of(stage), row.place);
    }
  }
}

void check_shares(const Study& study) {
  double shares = 0.0;
  for (const Stage& stage : study.stages) {
    shares += stage.kind == StageKind::kTrain && stage.share != 1.0 ? stage.share : 0.0;
    check_usage(shares <= kAllShares, "{}: the shares of the stages up to {} are {:g} together, must be 1 or less",
                study.where(stage.place), stage.name, shares);
  }
}

void check_row(const Study& study, const Row& row) {
  check_has_effect(study, row);
  std::vector<std::string> names;
  std::ranges::transform(study.stages, std::back_inserter(names), &Stage::name);
  for (const auto& [stage, changes] : row.stage_options) {
    check_usage(std::ranges::count(names, stage) > 0,
                "{}: row {} changes the stage \"{}\", which the study has not; stages: {}{}", study.where(row.place),
                row.name, stage, fmt::join(names, ", "), base::did_you_mean(stage, names));
  }
}

// Seeds count as independent runs.
void check_differ(const Study& study) {
  std::set<uint64_t> seen;
  for (const uint64_t seed : study.seeds) {
    check_usage(seen.insert(seed).second, "study {}: the seed {} is given twice; a run is done once for each seed",
                study.name, seed);
  }
}

}  // namespace

void check_study(const Study& study) {
  check_usage(!study.rows.empty(), "study {}: has no rows; name at least one under rows", study.name);
  check_usage(!study.seeds.empty(), "study {}: has no seeds", study.name);
  check_usage(!study.stages.empty(), "study {}: has no stages", study.name);
  check_usage(study.last_stage().kind == StageKind::kTrain,
              "{}: the last stage, {}, must train; its model is the row's", study.where(study.last_stage().place),
              study.last_stage().name);
  [[maybe_unused]] const Row& known = study.row(study.baseline);
  if (!study.reached_row.empty()) {
    [[maybe_unused]] const Row& reached = study.row(study.reached_row);
  }
  check_differ(study);
  check_names(study);
  check_starts(study);
  check_shares(study);
  for (const Row& each : study.rows) {
    check_row(study, each);
  }
  check_directions(study);
}

}  // namespace dragoman::study
