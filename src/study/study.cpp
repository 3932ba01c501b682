#include "study/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest_name.h"
#include "models/languages.h"

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
  check_usage(found != rows.end(), "study {}: no row is called \"{}\"; rows: {}{}", name, name_of_row,
              fmt::join(names, ", "), base::did_you_mean(name_of_row, names));
  return *found;
}

namespace {

constexpr const char* kMinutes = "total-minutes";
constexpr const char* kInitialModel = "initial-model";
constexpr const char* kManyHypotheses = "16";
constexpr const char* kFileOptions[] = {kInitialModel, "tokenizer", "target-tokenizer", "reverse-model", "terms",
                                        "prefix",      "banned"};

// The sides on which the texts of a study stand, as far as names say: "source" and "target", given texts in the
// language of one of them, and what stages make of such texts.
class SidesOfTexts {
 public:
  explicit SidesOfTexts(const Study& study) {
    add("source", Side::kSource);
    add("target", Side::kTarget);
    const auto language = [&](const std::string& name) {
      const auto found = study.texts.find(name);
      return found == study.texts.end() ? "" : models::language_of_file(found->second);
    };
    const std::string source = language("valid-source"), target = language("valid-target");
    for (const auto& [name, path] : study.texts) {
      const std::string own = models::language_of_file(path);
      if (!own.empty() && source != target && (own == source || own == target)) {
        add(name, own == source ? Side::kSource : Side::kTarget);
      }
    }
    for (const Stage& stage : study.stages) {
      if (stage.kind == StageKind::kFilter) {
        sides_[stage.name + ".source"] = of(stage.source);
        sides_[stage.name + ".target"] = of(stage.target);
      } else if (stage.translates()) {
        sides_[stage.name] = translated(of(stage.input_texts()));
      }
    }
  }

  std::set<Side> of(const std::vector<std::string>& names) const {
    std::set<Side> sides;
    for (const std::string& name : names) {
      if (const auto found = sides_.find(name); found != sides_.end()) {
        sides.insert(found->second.begin(), found->second.end());
      }
    }
    return sides;
  }

 private:
  void add(const std::string& name, Side side) { sides_[name].insert(side); }
  static std::set<Side> translated(const std::set<Side>& sides) {
    std::set<Side> others;
    for (const Side side : sides) {
      others.insert(side == Side::kSource ? Side::kTarget : Side::kSource);
    }
    return others;
  }

  std::map<std::string, std::set<Side>> sides_;
};

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

const Stage* Study::training(const std::string& model) const {
  const auto found = std::ranges::find_if(
      stages, [&](const Stage& stage) { return stage.kind == StageKind::kTrain && stage.name == model; });
  return found == stages.end() ? nullptr : &*found;
}

std::optional<Side> Study::side_of(const std::vector<std::string>& names_of_texts) const {
  const std::set<Side> sides = SidesOfTexts(*this).of(names_of_texts);
  return sides.size() == 1 ? std::optional(*sides.begin()) : std::nullopt;
}

bool Study::is_reversed(const Stage& stage) const {
  return side_of(stage.source) == Side::kTarget && side_of(stage.target) == Side::kSource;
}

bool Study::names_model(const std::string& model) const {
  return models.contains(model) || training(model) != nullptr;
}

std::vector<std::pair<std::string, std::filesystem::path>> Study::files_named_by(const OptionList& list) const {
  std::vector<std::pair<std::string, std::filesystem::path>> files;
  for (const char* option : kFileOptions) {
    const std::vector<std::string>* value = list.find(option);
    if (value != nullptr && !names_model(value->front())) {
      files.emplace_back(option, value->front());
    }
  }
  return files;
}

std::vector<std::pair<std::string, std::filesystem::path>> Study::given_files() const {
  std::vector<std::pair<std::string, std::filesystem::path>> files;
  for (const auto& [model_name, folder] : models) {
    files.emplace_back("model " + model_name, folder);
  }
  const auto add = [&](const OptionList& list) {
    for (const auto& [option, path] : files_named_by(list)) {
      files.emplace_back(fmt::format("--{} {}", option, path.string()), path);
    }
  };
  add(options);
  for (const Stage& stage : stages) {
    add(stage.options);
  }
  for (const Row& each : rows) {
    add(each.options);
    std::ranges::for_each(each.stage_options, [&](const auto& changed) { add(changed.second); });
  }
  for (const auto* named : {&searches, &perplexities}) {
    std::ranges::for_each(*named, [&](const NamedOptions& entry) { add(entry.second); });
  }
  return files;
}

OptionList Study::text_options(const Row& row, const Stage& stage) const {
  OptionList list = stage.options;
  list.lay_over(row.changes_of(stage));
  if (stage.translates() && !stage.nearest_to.empty()) {
    const auto* beam = list.find("beam-size");
    const std::vector<std::string> many = beam == nullptr ? std::vector<std::string>{kManyHypotheses} : *beam;
    list.set("beam-size", many);
    list.set("nbest", list.find("nbest") == nullptr ? many : *list.find("nbest"));
  }
  return list;
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

}  // namespace dragoman::study
