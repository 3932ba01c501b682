#include "training/presets.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "models/recurrent/recurrent_config.h"

namespace dragoman::training {
namespace {

models::TransformerConfig shape(int layers, int64_t d_model, int64_t d_ff, int n_heads, float dropout) {
  models::TransformerConfig model;
  model.encoder_layers = model.decoder_layers = layers;
  model.d_model = d_model;
  model.d_ff = d_ff;
  model.n_heads = n_heads;
  model.dropout = dropout;
  return model;
}

// For corpora of some ten thousand pairs (Wu et al. 2021 reach their best Multi30k score with this shape).
TrainOptions tiny() {
  TrainOptions options;
  options.model = shape(4, 128, 256, 4, 0.3F);
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
  models::TransformerConfig model = shape(4, 128, 256, 4, 0.2F);
  model.norm_order = nn::NormOrder::kPre;
  options.model = model;
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
  options.model = shape(6, 512, 1024, 4, 0.3F);
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
  options.model = shape(6, 512, 2048, 8, 0.1F);
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
  options.model = shape(6, 1024, 4096, 16, 0.3F);
  options.schedule.d_model = 1024;
  options.schedule.max_steps = options.run.max_steps = 300'000;
  options.run.average = options.run.keep_last = 20;
  return options;
}

// Validation by the loss alone, of the weights as they are, to the end of the schedule.
void judge_by_loss(TrainOptions& options) {
  options.run.metric = ValidationMetric::kLoss;
  options.run.average = 0;
  options.run.patience = 0;
}

// A language model with the recipe of nanoGPT's settings (Karpathy 2022), which its file names after the text.
TrainOptions language_model(int layers, int64_t d_model, int n_heads, int64_t context, float dropout) {
  TrainOptions options;
  models::DecoderOnlyConfig model;
  model.layers = layers;
  model.d_model = d_model;
  model.d_ff = 4 * d_model;
  model.n_heads = n_heads;
  model.max_positions = context;
  model.dropout = model.attention_dropout = dropout;
  model.activation = kernels::Activation::kGelu;
  model.layer.biases = nn::Biases::kNone;
  options.model = model;
  options.task = "language-model";
  options.vocabulary.type = data::VocabularyOptions::Type::kCharacters;
  options.loss.label_smoothing = 0.0;
  options.adam = {.beta1 = 0.9,
                  .beta2 = 0.99,
                  .epsilon = 1e-8,
                  .weight_decay = 0.1,
                  .decayed = Decayed::kMatrices,
                  .clip_norm = 1.0};
  options.batch.max_length = context;
  judge_by_loss(options);
  return options;
}

// The shape of nanoGPT's setting for a CPU. A higher rate and smaller updates learn more in a minute.
TrainOptions gpt_mini() {
  TrainOptions options = language_model(4, 128, 4, 64, 0.0F);
  options.batch.batch_tokens = 8 * 64;
  options.schedule = {ScheduleKind::kCosine, 4e-3, 100, 3000, 0.01, 128};
  options.run.max_steps = 3000;
  options.run.validate_every = 500;
  return options;
}

// nanoGPT's character model.
TrainOptions gpt_char() {
  TrainOptions options = language_model(6, 384, 6, 256, 0.2F);
  options.batch.batch_tokens = 64 * 256;
  options.schedule = {ScheduleKind::kCosine, 1e-3, 100, 5000, 0.1, 384};
  options.run.max_steps = 5000;
  options.run.validate_every = 250;
  return options;
}

// GPT-2 with 124 million parameters (Radford et al. 2019).
TrainOptions gpt2_small() {
  TrainOptions options = language_model(12, 768, 12, 1024, 0.0F);
  models::DecoderOnlyConfig model;  // GPT-2's
  options.model = model;
  options.running_text.documents = data::DocumentKind::kBlankLine;
  options.vocabulary.type = data::VocabularyOptions::Type::kByteBpe;
  options.vocabulary.size = 50'257;
  options.adam.beta2 = 0.95;
  options.batch.batch_tokens = 8 * 1024;
  options.batch.accumulate = 60;
  options.schedule = {ScheduleKind::kCosine, 6e-4, 2000, 600'000, 0.1, 768};
  options.run.max_steps = 600'000;
  options.run.validate_every = 1000;
  return options;
}

// A Llama of the size of gpt-char: RMSNorm, rotary positions, SwiGLU.
TrainOptions llama_mini() {
  TrainOptions options = gpt_char();
  models::DecoderOnlyConfig model = *options.model.get_if<models::DecoderOnlyConfig>();
  model.activation = kernels::Activation::kSilu;
  model.positions = nn::PositionKind::kRotary;
  model.tied_output = false;
  model.layer.norm = kernels::NormKind::kRms;
  model.layer.feed_forward = nn::FeedForwardKind::kGated;
  model.d_ff = 1024;  // 8/3 of d_model: as many parameters as with 4 and no gate
  options.model = model;
  return options;
}

// A model of what attention replaced, of about as many parameters as tiny, without the embeddings.
TrainOptions replaced_mini(const models::ModelConfig& model) {
  TrainOptions options = tiny();
  options.model = model;
  options.schedule = {ScheduleKind::kInverseSqrt, 2e-3, 500, 8000, 0.01, 128};
  options.adam.clip_norm = 1.0;
  return options;
}

TrainOptions gru_mini() {
  models::RecurrentConfig model;
  model.d_model = 128;
  model.d_hidden = 224;
  return replaced_mini(model);
}

TrainOptions lstm_mini() {
  models::RecurrentConfig model;
  model.cell = kernels::CellKind::kLstm;
  model.attention = models::RecurrentAttention::kLuong;
  model.input_feeding = true;
  model.d_model = 128;
  model.d_hidden = 208;
  return replaced_mini(model);
}

TrainOptions conv_mini() {
  models::ConvolutionalConfig model;
  model.d_model = 128;
  model.d_hidden = 160;
  model.scale_embedding = false;
  return replaced_mini(model);
}

// A T5 v1.1 (Raffel et al. 2020; Shazeer 2020, the gate) of the size of tiny, with one table of words, so that it can
// be exported as a T5. Products of queries and keys are scaled: without the scale, T5's short queries move too far in
// each update of Adam, and attention to the input forms late. Sentences are read one by one.
TrainOptions t5_mini() {
  TrainOptions options;
  models::TransformerConfig model = shape(4, 256, 512, 4, 0.1F);
  model.norm_order = nn::NormOrder::kPre;
  model.activation = kernels::Activation::kGeluTanh;
  model.positions = nn::PositionKind::kRelative;
  model.layer_norm_epsilon = 1e-6F;
  model.layer.norm = kernels::NormKind::kRms;
  model.layer.feed_forward = nn::FeedForwardKind::kGated;
  model.layer.biases = nn::Biases::kNone;
  model.layer.scale_embedding = false;
  options.model = model;
  options.task = "span-corruption";
  options.running_text.documents = data::DocumentKind::kLine;
  options.vocabulary.size = 8000;
  options.loss.label_smoothing = 0.0;
  options.adam = {.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-8, .clip_norm = 1.0};
  options.batch.batch_tokens = 4096;
  options.schedule = {ScheduleKind::kInverseSqrt, 1e-3, 1000, 20'000, 0.01, 256};
  options.run.max_steps = 20'000;
  options.run.validate_every = 1000;
  judge_by_loss(options);
  return options;
}

// BERT-Mini (Turc et al. 2019) for shorter texts. Sentences are read one by one, as the tasks behind have them.
TrainOptions bert_mini() {
  TrainOptions options;
  models::EncoderOnlyConfig model;
  model.layers = 4;
  model.d_model = 256;
  model.d_ff = 1024;
  model.n_heads = 4;
  model.max_positions = 128;
  options.model = model;
  options.task = "masked-language-model";
  options.running_text.documents = data::DocumentKind::kLine;
  options.running_text.across_documents = false;
  options.vocabulary.type = data::VocabularyOptions::Type::kWordPiece;
  options.vocabulary.size = 8000;
  options.loss.label_smoothing = 0.0;
  options.adam = {.beta1 = 0.9,
                  .beta2 = 0.98,
                  .epsilon = 1e-6,
                  .weight_decay = 0.01,
                  .decayed = Decayed::kMatrices,
                  .clip_norm = 1.0};
  options.batch.batch_tokens = 4096;
  options.batch.max_length = 128;
  options.schedule = {ScheduleKind::kCosine, 1e-3, 500, 20'000, 0.01, 256};
  options.run.max_steps = 20'000;
  options.run.validate_every = 1000;
  judge_by_loss(options);
  return options;
}

// What labels need beside a preset of an encoder: smaller steps and fewer of them, judged by accuracy.
void fit_to_labels(TrainOptions& options) {
  options.batch.batch_tokens = 1024;
  options.schedule.learning_rate = 3e-4;
  options.schedule.warmup_steps = 100;
  options.schedule.max_steps = options.run.max_steps = 1500;
  options.run.validate_every = 100;
  options.run.metric = ValidationMetric::kAccuracy;
}

// Pairs of texts need larger batches, which hold several groups, and are judged by the ranks of the right texts.
void fit_to_pairs(TrainOptions& options) {
  fit_to_labels(options);
  options.batch.batch_tokens = 4096;
  options.run.metric = ValidationMetric::kMrr;
  options.model = options.model.with<models::EncoderOnlyConfig>([](auto& model) { model.unit_length = true; });
}

struct Preset {
  const char* name;
  TrainOptions (*options)();
};
constexpr Preset kPresets[] = {{"tiny", tiny},
                               {"tiny-hour", tiny_hour},
                               {"small", small},
                               {"base", base_model},
                               {"big", big},
                               {"gpt-mini", gpt_mini},
                               {"gpt-char", gpt_char},
                               {"gpt2-small", gpt2_small},
                               {"llama-mini", llama_mini},
                               {"gru-mini", gru_mini},
                               {"lstm-mini", lstm_mini},
                               {"conv-mini", conv_mini},
                               {"t5-mini", t5_mini},
                               {"bert-mini", bert_mini}};

// Whether the order of layer norms can be chosen: T5 has one.
bool is_transformer(const Preset& preset) {
  const TrainOptions options = preset.options();
  return options.model.get_if<models::TransformerConfig>() != nullptr && options.task == TrainOptions().task;
}

constexpr std::string_view kPrenorm = "-prenorm";

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    names.emplace_back(preset.name);
    if (is_transformer(preset)) {
      names.push_back(std::string(preset.name) + std::string(kPrenorm));
    }
  }
  return names;
}

TrainOptions preset_options(const std::string& name, const std::string& task) {
  const bool is_prenorm = name.ends_with(kPrenorm);
  const std::string size = is_prenorm ? name.substr(0, name.size() - kPrenorm.size()) : name;
  const auto* found = std::ranges::find(kPresets, size, [](const Preset& preset) { return std::string(preset.name); });
  base::check_usage(found != std::end(kPresets) && (!is_prenorm || is_transformer(*found)),
                    "preset is \"{}\", must be one of {}", name, fmt::join(preset_names(), ", "));
  TrainOptions options = found->options();
  options.preset = name;
  if (!task.empty() && task != options.task) {
    options.task = task;
    if (task == "text-to-text") {
      options.batch.batch_order = data::BatchOrder::kRandom;  // by length each update would learn one of the tasks
    } else if (options.model.get_if<models::EncoderOnlyConfig>() != nullptr) {
      (task == "embed" ? fit_to_pairs : fit_to_labels)(options);
    }
  }
  if (is_prenorm) {
    options.model =
        options.model.with<models::TransformerConfig>([](auto& model) { model.norm_order = nn::NormOrder::kPre; });
  }
  return options;
}

}  // namespace dragoman::training
