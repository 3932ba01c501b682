#include "training/run_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu.h"
#include "base/memory.h"
#include "kernels/product_kernel.h"
#include "report/progress_line.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

constexpr double kTokensPerParameterWarning = 0.4;  // fewer target tokens than this for each parameter: too large

std::vector<report::ReportFact> model_facts(const TrainOptions& options, int64_t parameters) {
  std::vector<report::ReportFact> facts = {{"preset", options.preset},
                                           {"parameters", report::format_count(parameters)}};
  for (const auto& [name, value] : options.model.facts()) {
    facts.push_back({name, value});
  }
  return facts;
}

std::vector<report::ReportFact> data_facts(const data::Examples& examples) {
  std::vector<report::ReportFact> facts;
  for (const auto& [name, count] : examples.facts()) {
    facts.push_back({name, report::format_count(static_cast<int64_t>(count))});
  }
  return facts;
}

std::vector<report::ReportFact> training_facts(const TrainOptions& options) {
  std::vector<report::ReportFact> facts = {
      {"batch", fmt::format("{} tokens x {}", options.batch.batch_tokens, options.batch.accumulate)},
      {"schedule", fmt::format("{}, {}, {} warm-up steps", name_of(options.schedule.kind),
                               options.schedule.learning_rate, options.schedule.warmup_steps)},
      {"label smoothing", fmt::format("{}", options.loss.label_smoothing)},
      {"precision of products", std::string(kernels::name_of(*options.precision))},
      {"seed", fmt::format("{}", options.run.seed)}};
  const auto add_if_on = [&](const char* name, double value) {
    if (value > 0) {
      facts.push_back({name, fmt::format("{}", value)});
    }
  };
  for (auto [name, probability] : options.model.dropouts()) {
    if (name == "dropout" || probability > 0.0F) {
      std::ranges::replace(name, '_', ' ');
      facts.push_back({name, fmt::format("{}", probability)});
    }
  }
  add_if_on("sub-word sampling", options.batch.subword_sampling);
  add_if_on("R-Drop", options.loss.rdrop);
  add_if_on("SimCut", options.loss.simcut);
  add_if_on("moving average", options.run.ema_decay);
  return facts;
}

std::vector<report::ReportFact> machine_facts(const TrainOptions& options) {
  return {{"processor", base::cpu_model_name()},
          {"instruction set", base::isa_name(base::active_isa())},
          {"workers", fmt::format("{}", options.run.workers)}};
}

// What the user of a preset can do. No preset has a smaller model than the tiny ones, and the mini ones of other
// architectures.
std::string_view advice_for_little_text(std::string_view preset) {
  if (preset.starts_with("tiny-hour")) {
    return "more text";
  }
  if (preset.ends_with("-mini")) {
    return "more dropout or more text";
  }
  return preset.starts_with("tiny") ? "--preset tiny-hour, which is made for little text, or more text"
                                    : "a smaller preset, more dropout or more text";
}

std::string precision_warning(kernels::Precision precision) {
  return kernels::product_kernel(precision) != kernels::ProductKernel::kBFloat16Widened
             ? ""
             : fmt::format("this processor ({}) does not multiply bfloat16: it works, but float32 would be faster",
                           base::isa_name(base::active_isa()));
}

std::vector<report::ReportFact> memory_facts(const MemoryPlan& plan) {
  std::vector<report::ReportFact> facts;
  for (const auto& [name, bytes] : plan.parts()) {
    facts.push_back({name, base::format_size(bytes)});
  }
  return facts;
}

}  // namespace

std::vector<report::ReportFactGroup> run_facts(const TrainOptions& options, int64_t parameters,
                                               const data::Examples& examples, const std::optional<MemoryPlan>& plan) {
  std::vector<report::ReportFactGroup> groups = {{"Model", model_facts(options, parameters)},
                                                 {"Data", data_facts(examples)},
                                                 {"Training", training_facts(options)},
                                                 {"Machine", machine_facts(options)}};
  if (plan) {
    groups.push_back({"Memory", memory_facts(*plan)});
  }
  return groups;
}

std::vector<std::string> run_warnings(const TrainOptions& options, int64_t parameters,
                                      const data::CorpusStatistics& corpus) {
  std::vector<std::string> warnings;
  // An encoder writes no text, and its targets are few.
  const bool writes_text = options.model.with_vocabulary_sizes(1, 1).sizes().target_vocab_size > 0;
  if (writes_text &&
      static_cast<double>(corpus.target_tokens) < kTokensPerParameterWarning * static_cast<double>(parameters)) {
    warnings.push_back(
        fmt::format("the model has {} parameters for {} target tokens: it will learn the text by heart; {} will do "
                    "better on other text",
                    report::format_count(parameters), report::format_count(static_cast<int64_t>(corpus.target_tokens)),
                    advice_for_little_text(options.preset)));
  }
  warnings.push_back(precision_warning(*options.precision));
  std::erase(warnings, "");
  return warnings;
}

}  // namespace dragoman::training
