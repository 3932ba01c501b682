#include "training/train_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace dragoman::training {
namespace {

void set_shape(models::TransformerConfig& model, int layers, int64_t d_model, int64_t d_ff, int n_heads) {
  model.encoder_layers = model.decoder_layers = layers;
  model.d_model = d_model;
  model.d_ff = d_ff;
  model.n_heads = n_heads;
}

// For corpora of some ten thousand pairs (Wu et al. 2021 reach their best Multi30k score with this shape).
TrainOptions tiny() {
  TrainOptions options;
  set_shape(options.model, 4, 128, 256, 4);
  options.model.dropout = 0.3F;
  options.vocabulary.size = 10'000;
  options.schedule = {ScheduleKind::kInverseSqrt, 5e-3, 2000, 8000, 0.01, 128};
  options.adam.epsilon = 1e-8;
  options.adam.clip_norm = 5.0;
  options.run.max_steps = 8000;
  options.run.validate_every = 200;
  options.run.average = 10;
  options.run.keep_last = 10;
  return options;
}

// The same shape, to be trained within an hour: many small updates, layer norm first, few sub-words, and a learning
// rate that falls to its end within the time given. Chosen on validation text; docs/small_corpora.md has the figures.
TrainOptions tiny_hour() {
  TrainOptions options = tiny();
  options.model.norm_order = nn::NormOrder::kPre;
  options.model.dropout = 0.2F;
  options.vocabulary.size = 4000;
  options.batch.batch_tokens = 1024;
  options.schedule = {ScheduleKind::kCosineTime, 3e-3, 800, 1'000'000, 0.01, 128};
  options.run.max_steps = 1'000'000;
  options.run.total_minutes = 55.0;
  options.run.validate_every = 1000;
  options.run.patience = 0;
  options.run.average = 5;
  return options;
}

// For corpora of some hundred thousand pairs: the usual IWSLT model.
TrainOptions small() {
  TrainOptions options;
  set_shape(options.model, 6, 512, 1024, 4);
  options.model.dropout = 0.3F;
  options.vocabulary.size = 10'000;
  options.schedule = {ScheduleKind::kInverseSqrt, 5e-4, 4000, 50'000, 0.01, 512};
  options.adam.epsilon = 1e-8;
  options.adam.weight_decay = 1e-4;
  options.batch.batch_tokens = 4096;
  options.run.max_steps = 50'000;
  options.run.validate_every = 1000;
  return options;
}

// The paper's base model (table 3) with its training recipe (section 5).
TrainOptions base_model() {
  TrainOptions options;
  set_shape(options.model, 6, 512, 2048, 8);
  options.model.dropout = 0.1F;
  options.vocabulary.size = 37'000;
  options.schedule = {ScheduleKind::kNoam, 1.0, 4000, 100'000, 0.01, 512};
  options.batch.batch_tokens = 25'000;
  options.run.max_steps = 100'000;
  options.run.validate_every = 1500;
  options.run.validation_beam = 4;
  return options;
}

// The paper's big model (table 3).
TrainOptions big() {
  TrainOptions options = base_model();
  set_shape(options.model, 6, 1024, 4096, 16);
  options.model.dropout = 0.3F;
  options.schedule.d_model = 1024;
  options.schedule.max_steps = options.run.max_steps = 300'000;
  options.run.average = options.run.keep_last = 20;
  return options;
}

struct Preset {
  const char* name;
  TrainOptions (*options)();
};
constexpr Preset kPresets[] = {
    {"tiny", tiny}, {"tiny-hour", tiny_hour}, {"small", small}, {"base", base_model}, {"big", big}};
constexpr int64_t kAnyVocabularySize = 1000;
constexpr std::string_view kPrenorm = "-prenorm";

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    names.emplace_back(preset.name);
    names.push_back(std::string(preset.name) + std::string(kPrenorm));
  }
  return names;
}

TrainOptions preset_options(const std::string& name) {
  const bool prenorm = name.ends_with(kPrenorm);
  const std::string shape = prenorm ? name.substr(0, name.size() - kPrenorm.size()) : name;
  const auto* found = std::ranges::find(kPresets, shape, [](const Preset& preset) { return std::string(preset.name); });
  base::check_usage(found != std::end(kPresets), "preset is \"{}\", must be one of {}", name,
                    fmt::join(preset_names(), ", "));
  TrainOptions options = found->options();
  options.preset = name;
  if (prenorm) {
    options.model.norm_order = nn::NormOrder::kPre;
  }
  return options;
}

void TrainOptions::check() const {
  base::check_usage(!source.empty() && !target.empty(), "train: --source and --target name the training text");
  base::check_usage(valid_source.empty() == valid_target.empty(),
                    "train: --valid-source and --valid-target go together");
  base::check_usage(!model_folder.empty(), "train: --model names the folder to write to");
  std::error_code missing;
  base::check_usage(initial_model.empty() || !std::filesystem::equivalent(initial_model, model_folder, missing),
                    "train: --initial-model and --model are both {}; name another folder for the new model",
                    model_folder.string());
  base::check_usage(joint_vocabulary || model.tying != models::Tying::kAll,
                    "tying \"all\" needs a joint vocabulary; use --tying target with separate vocabularies");
  models::TransformerConfig shape = model;
  shape.source_vocab_size = shape.target_vocab_size = kAnyVocabularySize;  // the true ones are known after learning
  shape.check();
  schedule.check();
  base::check_usage(precision != kernels::Precision::kInt8,
                    "precision is int8, which is for translating; train in float32 or bfloat16");
  base::check_range("beta1", adam.beta1, 0.0, 0.9999);
  base::check_range("beta2", adam.beta2, 0.0, 0.99999);
  base::check_range("epsilon", adam.epsilon, 1e-16, 1.0);
  base::check_range("weight_decay", adam.weight_decay, 0.0, 1.0);
  base::check_range("clip_norm", adam.clip_norm, 0.0, 1e6);
  base::check_range("label_smoothing", loss.label_smoothing, 0.0, 0.9);
  base::check_range("rdrop", loss.rdrop, 0.0, 100.0);
  base::check_range("batch_tokens", static_cast<double>(batch.batch_tokens), 16, 1 << 24);
  base::check_range("accumulate", static_cast<double>(batch.accumulate), 1, 4096);
  base::check_range("max_length", static_cast<double>(batch.max_length), 2, static_cast<double>(model.max_positions));
  base::check_range("window_sentences", static_cast<double>(batch.window_sentences), 1, 1e9);
  base::check_range("cache_megabytes", static_cast<double>(batch.cache_megabytes), 0, 1 << 24);
  base::check_range("subword_sampling", batch.subword_sampling, 0.0, 100.0);
  base::check_range("max_steps", static_cast<double>(run.max_steps), 1, 1e9);
  base::check_range("max_epochs", static_cast<double>(run.max_epochs), 0, 1e9);
  base::check_range("max_minutes", run.max_minutes, 0.0, 1e9);
  base::check_range("total_minutes", run.total_minutes, 0.0, 1e9);
  base::check_range("patience", static_cast<double>(run.patience), 0, 1e9);
  base::check_range("validate_every", static_cast<double>(run.validate_every), 1, 1e9);
  base::check_range("validation_beam", static_cast<double>(run.validation_beam), 1, 64);
  base::check_range("ema_decay", run.ema_decay, 0.0, 0.999999);
  base::check_range("keep_last", static_cast<double>(run.keep_last), 1, 1000);
  base::check_range("keep_best", static_cast<double>(run.keep_best), 0, 1000);
  base::check_range("average", static_cast<double>(run.average), 0, 1000);
  base::check_range("workers", run.workers, 0, 1024);
  base::check_range("check_ranks_every", static_cast<double>(run.check_ranks_every), 1, 1e9);
  base::check_range("rank_timeout", run.rank_timeout, 1.0, 3600.0);
  base::check_range("log_every", static_cast<double>(run.log_every), 1, 1e9);
}

std::string recipe_json(const TrainOptions& options) {
  nlohmann::json tree = {
      {"vocabulary_type", options.vocabulary.type == data::VocabularyOptions::Type::kBpe ? "bpe" : "unigram"},
      {"vocabulary_size", options.vocabulary.size},
      {"character_coverage", options.vocabulary.character_coverage},
      {"byte_fallback", options.vocabulary.byte_fallback},
      {"normalization", options.vocabulary.normalization},
      {"vocabulary_lines", options.vocabulary.max_lines},
      {"joint_vocabulary", options.joint_vocabulary},
      {"model", nlohmann::json::parse(models::to_json(options.model))},
      {"precision", options.precision ? kernels::name_of(*options.precision) : "auto"},
      {"schedule", name_of(options.schedule.kind)},
      {"learning_rate", options.schedule.learning_rate},
      {"warmup_steps", options.schedule.warmup_steps},
      {"beta1", options.adam.beta1},
      {"beta2", options.adam.beta2},
      {"epsilon", options.adam.epsilon},
      {"weight_decay", options.adam.weight_decay},
      {"clip_norm", options.adam.clip_norm},
      {"label_smoothing", options.loss.label_smoothing},
      {"rdrop", options.loss.rdrop},
      {"batch_tokens", options.batch.batch_tokens},
      {"accumulate", options.batch.accumulate},
      {"max_length", options.batch.max_length},
      {"window_sentences", options.batch.window_sentences},
      {"subword_sampling", options.batch.subword_sampling},
      {"ema_decay", options.run.ema_decay},
      {"seed", options.run.seed}};
  if (!options.initial_model.empty()) {
    tree["initial_model"] = options.initial_model.string();
  }
  return base::dump_json(tree, 2) + "\n";
}

std::string_view name_of(nn::Recompute recompute) {
  return recompute == nn::Recompute::kLayers ? "layers" : "none";
}

nn::Recompute recompute_from(std::string_view name) {
  for (const auto recompute : {nn::Recompute::kNone, nn::Recompute::kLayers}) {
    if (name_of(recompute) == name) {
      return recompute;
    }
  }
  base::fail(base::ErrorKind::kUsage, "recompute is \"{}\", must be one of none, layers", name);
}

std::string_view name_of(ValidationMetric metric) {
  switch (metric) {
    case ValidationMetric::kBleu:
      return "bleu";
    case ValidationMetric::kChrf:
      return "chrf";
    case ValidationMetric::kLoss:
      return "loss";
  }
  return "unknown";
}

ValidationMetric validation_metric_from(std::string_view name) {
  for (const auto metric : {ValidationMetric::kBleu, ValidationMetric::kChrf, ValidationMetric::kLoss}) {
    if (name_of(metric) == name) {
      return metric;
    }
  }
  base::fail(base::ErrorKind::kUsage, "metric is \"{}\", must be one of bleu, chrf, loss", name);
}

}  // namespace dragoman::training
