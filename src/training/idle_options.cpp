#include "training/idle_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/field_json.h"
#include "training/presets.h"

namespace dragoman::training {
namespace {

// `option` is read only while `decider` is `value`, or, where no value is given, neither 0 nor false.
struct Dependence {
  const char* option;
  const char* decider;
  const char* value = "";
};

constexpr Dependence kDependences[] = {
    {"rope_theta", "positions", "rope"},
    {"relative_buckets", "positions", "relative"},
    {"relative_distance", "positions", "relative"},
    {"muon_momentum", "optimizer", "muon"},
    {"decayed", "weight_decay"},
    {"simcut_words", "simcut"},
    {"average_best", "average"},
    {"document_separator", "documents", "separator"},
};

// All options by name, the fields of the model among them. A model to start from has its own shape.
nlohmann::json options_by_name(const TrainOptions& options, bool with_model) {
  nlohmann::json all = base::json_of_fields(options, [](const auto&) { return true; });
  if (with_model) {
    all.update(nlohmann::json::parse(options.model.to_json()));
  }
  return all;
}

std::string in_words(const nlohmann::json& value) {
  if (value.is_number()) {
    return fmt::format("{}", value.get<double>());
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool switched_on(const nlohmann::json& decider, const Dependence& dependence) {
  return *dependence.value != '\0' ? decider == dependence.value : decider != 0 && decider != false;
}

}  // namespace

std::vector<std::string> idle_options(const TrainOptions& options) {
  const bool with_model = options.initial_model.empty();
  const nlohmann::json all = options_by_name(options, with_model);
  const nlohmann::json of_preset = options_by_name(preset_options(options.preset, options.task), with_model);
  std::vector<std::string> lines;
  for (const Dependence& dependence : kDependences) {
    const auto option = all.find(dependence.option);
    const auto decider = all.find(dependence.decider);
    if (option == all.end() || decider == all.end() || switched_on(*decider, dependence) ||
        *option == of_preset.value(dependence.option, nlohmann::json())) {
      continue;
    }
    lines.push_back(fmt::format("{} is of no use while {} is {}", base::flag_spelling(dependence.option),
                                base::flag_spelling(dependence.decider), in_words(*decider)));
  }
  if (options.schedule.kind == ScheduleKind::kCosineTime &&
      options.run.max_steps != preset_options(options.preset, options.task).run.max_steps) {
    lines.push_back(
        fmt::format("the learning rate falls over --total-minutes {:g}, wherever --max-steps {} ends the run; with "
                    "--schedule cosine it falls over --max-steps",
                    options.run.total_minutes, options.run.max_steps));
  }
  const std::string_view architecture = options.model.architecture();
  if (options.run.recompute != nn::Recompute::kNone &&
      (architecture == "recurrent" || architecture == "convolutional")) {
    lines.push_back(
        fmt::format("--recompute {} is of no use to a {} model", base::name_of(options.run.recompute), architecture));
  }
  return lines;
}

}  // namespace dragoman::training
