#include "study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest_name.h"

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

double number_of(const std::string& text) {
  double number = 0.0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  check_usage(end.ec == std::errc() && end.ptr == text.data() + text.size(), "--{} is \"{}\", must be a number",
              kMinutes, text);
  return number;
}

}  // namespace

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
  if (const auto found = row.stage_options.find(stage.name); found != row.stage_options.end()) {
    all.lay_over(found->second);
  }
  if (stage.share != 1.0) {
    const std::vector<std::string>* minutes = all.find(kMinutes);
    check_usage(minutes != nullptr, "study {}: stage {} has a share of the time, so {} must be given", name, stage.name,
                kMinutes);
    all.set(kMinutes, {fmt::format("{:.6g}", number_of(minutes->front()) * stage.share)});
  }
  return all;
}

namespace {

// Checks the stages in their order: each uses what is given or what an earlier stage made.
class NameCheck {
 public:
  explicit NameCheck(const Study& study) : study_(study) {
    for (const auto& [name, path] : study.texts) {
      texts_.push_back(name);
    }
    for (const auto& [name, path] : study.models) {
      models_.push_back(name);
    }
  }

  void check(const Stage& stage) {
    const bool is_free = std::ranges::count(texts_, stage.name) == 0 && std::ranges::count(models_, stage.name) == 0;
    check_usage(is_free, "study {}: two things are called \"{}\"", study_.name, stage.name);
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
  void check_known(const Stage& stage, const char* what, const std::string& name,
                   const std::vector<std::string>& known) const {
    check_usage(std::ranges::count(known, name) > 0,
                "study {}: stage {} uses the {} \"{}\", which is neither given nor made by an earlier stage{}",
                study_.name, stage.name, what, name, base::did_you_mean(name, known));
  }

  const Study& study_;
  std::vector<std::string> texts_, models_;
};

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
  NameCheck names(*this);
  for (const Stage& stage : stages) {
    names.check(stage);
  }
  for (const Row& each : rows) {
    for (const auto& [stage, changes] : each.stage_options) {
      check_usage(std::ranges::count(stages, stage, &Stage::name) > 0,
                  "study {}: row {} changes the stage \"{}\", which the study has not", name, each.name, stage);
    }
  }
}

}  // namespace dragoman::study
