#include "training/run_facts.h"

#include <fmt/format.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "kernels/product_kernel.h"
#include "report/progress_line.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

constexpr double kTokensPerParameterWarning = 0.5;  // fewer target tokens than this for each parameter: too large

std::vector<report::ReportFact> model_facts(const TrainOptions& options, int64_t parameters) {
  const models::TransformerConfig& model = options.model;
  return {{"preset", options.preset},
          {"parameters", report::format_count(parameters)},
          {"layers", fmt::format("{} + {}", model.encoder_layers, model.decoder_layers)},
          {"d_model / d_ff / heads", fmt::format("{} / {} / {}", model.d_model, model.d_ff, model.n_heads)},
          {"norm", std::string(models::name_of(model.norm_order))},
          {"vocabulary", fmt::format("{} / {}", model.source_vocab_size, model.target_vocab_size)}};
}

std::vector<report::ReportFact> data_facts(const data::CorpusStatistics& corpus) {
  return {{"pairs read", report::format_count(static_cast<int64_t>(corpus.read))},
          {"pairs kept", report::format_count(static_cast<int64_t>(corpus.kept))},
          {"source tokens", report::format_count(static_cast<int64_t>(corpus.source_tokens))},
          {"target tokens", report::format_count(static_cast<int64_t>(corpus.target_tokens))}};
}

std::vector<report::ReportFact> training_facts(const TrainOptions& options) {
  std::vector<report::ReportFact> facts = {
      {"batch", fmt::format("{} tokens x {}", options.batch.batch_tokens, options.batch.accumulate)},
      {"schedule", fmt::format("{}, {}, {} warm-up steps", name_of(options.schedule.kind),
                               options.schedule.learning_rate, options.schedule.warmup_steps)},
      {"dropout", fmt::format("{}", options.model.dropout)},
      {"label smoothing", fmt::format("{}", options.loss.label_smoothing)},
      {"precision of products", std::string(kernels::name_of(*options.precision))},
      {"seed", fmt::format("{}", options.run.seed)}};
  const auto add_if_on = [&](const char* name, auto value) {
    if (value > 0) {
      facts.push_back({name, fmt::format("{}", value)});
    }
  };
  add_if_on("attention dropout", options.model.attention_dropout);
  add_if_on("activation dropout", options.model.activation_dropout);
  add_if_on("source word dropout", options.model.source_word_dropout);
  add_if_on("target word dropout", options.model.target_word_dropout);
  add_if_on("sub-word sampling", options.batch.subword_sampling);
  add_if_on("R-Drop", options.loss.rdrop);
  add_if_on("moving average", options.run.ema_decay);
  return facts;
}

std::vector<report::ReportFact> machine_facts(const TrainOptions& options) {
  return {{"processor", base::cpu_model_name()},
          {"instruction set", base::isa_name(base::active_isa())},
          {"workers", fmt::format("{}", options.run.workers)}};
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
                                               const data::CorpusStatistics& corpus,
                                               const std::optional<MemoryPlan>& plan) {
  std::vector<report::ReportFactGroup> groups = {{"Model", model_facts(options, parameters)},
                                                 {"Data", data_facts(corpus)},
                                                 {"Training", training_facts(options)},
                                                 {"Machine", machine_facts(options)}};
  if (plan) {
    groups.push_back({"Memory", memory_facts(*plan)});
  }
  return groups;
}

std::vector<std::string> run_warnings(const TrainOptions& options, int64_t parameters,
                                      const data::CorpusStatistics& corpus, const Validator& validator) {
  std::vector<std::string> warnings;
  if (static_cast<double>(corpus.target_tokens) < kTokensPerParameterWarning * static_cast<double>(parameters)) {
    warnings.push_back(fmt::format(
        "the model has {} parameters for {} target tokens: it will learn the text by heart; a smaller preset, more "
        "dropout or more text will translate better",
        report::format_count(parameters), report::format_count(static_cast<int64_t>(corpus.target_tokens))));
  }
  warnings.push_back(precision_warning(*options.precision));
  warnings.push_back(normalization_warning(options.target, validator.target_vocabulary()));
  warnings.push_back(tokenizer_warning(options.run.tokenize, validator.references()));
  std::erase(warnings, "");
  return warnings;
}

}  // namespace dragoman::training
