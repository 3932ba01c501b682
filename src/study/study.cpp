#include "study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest_name.h"
#include "study/study_names.h"

namespace dragoman::study {

using base::check_usage;

void OptionList::set(const std::string& name, std::vector<std::string> values) {
  const auto found = std::ranges::find(options_, name, &Option::name);
  if (found != options_.end()) {
    found->values = std::move(values);
  } else {
    options_.push_back({name, std::move(values)});
  }
}

void OptionList::lay_over(const OptionList& over) {
  for (const Option& option : over.options_) {
    set(option.name, option.values);
  }
}

void OptionList::remove(const std::set<std::string>& names) {
  std::erase_if(options_, [&](const Option& option) { return names.contains(option.name); });
}

const std::vector<std::string>* OptionList::find(const std::string& name) const {
  const auto found = std::ranges::find(options_, name, &Option::name);
  return found == options_.end() ? nullptr : &found->values;
}

std::vector<std::string> OptionList::arguments() const {
  std::vector<std::string> words;
  for (const Option& option : options_) {
    if (option.values.size() == 1) {  // the form that flags understand too
      words.push_back(fmt::format("--{}={}", option.name, option.values.front()));
      continue;
    }
    words.push_back("--" + option.name);
    words.insert(words.end(), option.values.begin(), option.values.end());
  }
  return words;
}

const Row& Study::row(const std::string& name_of_row) const {
  const auto found = std::ranges::find(rows, name_of_row, &Row::name);
  std::vector<std::string> names;
  std::ranges::transform(rows, std::back_inserter(names), &Row::name);
  check_usage(found != rows.end(), "study {}: no row is called \"{}\"{}", name, name_of_row,
              base::did_you_mean(name_of_row, names));
  return *found;
}

namespace {

constexpr const char* kMinutes = "total-minutes";
constexpr const char* kInitialModel = "initial-model";
constexpr double kAllShares = 1.0 + 1e-9;  // sums of decimals round

double number_of(const std::string& text) {
  double number = 0.0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  check_usage(end.ec == std::errc() && end.ptr == text.data() + text.size(), "--{} is \"{}\", must be a number",
              kMinutes, text);
  return number;
}

}  // namespace

OptionList Row::changes_of(const Stage& stage) const {
  const auto found = stage_options.find(stage.name);
  return found == stage_options.end() ? OptionList() : found->second;
}

bool Study::names_model(const std::string& model) const {
  return models.contains(model) || std::ranges::count(stages, model, &Stage::name) > 0;
}

OptionList Study::options_of(const Row& row, const Stage& stage) const {
  OptionList all = options;
  OptionList of_row = row.options;
  if (!stage.start_from.empty()) {
    all.remove(decided_by_start);
    of_row.remove(decided_by_start);
  } else if (of_row.find(kInitialModel) != nullptr) {
    all.remove(decided_by_start);
  }
  all.lay_over(stage.options);
  all.lay_over(of_row);
  all.lay_over(row.changes_of(stage));
  if (stage.share != 1.0) {
    const std::vector<std::string>* minutes = all.find(kMinutes);
    check_usage(minutes != nullptr, "study {}: row {}, stage {} has a share of the time, so {} must be given", name,
                row.name, stage.name, kMinutes);
    all.set(kMinutes, {fmt::format("{:.6g}", number_of(minutes->front()) * stage.share)});
  }
  return all;
}

namespace {

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
    check_usage(reaches,
                "study {}: row {} changes --{}, but each training starts from weights that decide it; leave it out",
                study.name, row.name, option.name);
  }
}

// Weights to start from decide shape and vocabulary.
void check_start(const Study& study, const Stage& stage) {
  for (const OptionList::Option& option : stage.options.options()) {
    check_usage(stage.start_from.empty() || !study.decided_by_start.contains(option.name),
                "study {}: stage {} starts from {}, which decides --{}; leave it out", study.name, stage.name,
                stage.start_from, option.name);
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

void Study::check() const {
  check_usage(!rows.empty(), "study {}: has no rows; name at least one under rows", name);
  check_usage(!seeds.empty(), "study {}: has no seeds", name);
  check_usage(!stages.empty() && last_stage().kind == StageKind::kTrain,
              "study {}: the last stage must train; its model is the row's", name);
  [[maybe_unused]] const Row& known = row(baseline);
  if (!reached_row.empty()) {
    [[maybe_unused]] const Row& reached = row(reached_row);
  }
  check_differ(*this);
  check_names(*this);
  double shares = 0.0;
  for (const Stage& stage : stages) {
    check_start(*this, stage);
    shares += stage.kind == StageKind::kTrain && stage.share != 1.0 ? stage.share : 0.0;
  }
  check_usage(shares <= kAllShares, "study {}: the shares of the stages are {:g} together, must be 1 or less", name,
              shares);
  for (const Row& each : rows) {
    check_has_effect(*this, each);
    for (const auto& [stage, changes] : each.stage_options) {
      check_usage(std::ranges::count(stages, stage, &Stage::name) > 0,
                  "study {}: row {} changes the stage \"{}\", which the study has not", name, each.name, stage);
    }
  }
}

}  // namespace dragoman::study
