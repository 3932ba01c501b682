#include "interop/hf_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using kernels::Activation;
using kernels::RotationScaling;
using nlohmann::json;

constexpr size_t kShown = 200;  // bytes of a value in an error

// Keys that change neither the logits nor the tokens: names, versions, training, classification heads, and searches,
// which are chosen here by flags.
constexpr std::string_view kHarmlessKeys[] = {
    "_attn_implementation_autoset", "_from_model_config", "_name_or_path", "architectures", "attn_implementation",
    "dtype", "gradient_checkpointing", "initializer_range", "n_ctx", "output_attentions", "output_hidden_states",
    "output_past", "pretraining_tp", "return_dict", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "task_specific_params", "torch_dtype",
    "transformers_version", "use_cache",
    // of classification heads
    "finetuning_task", "id2label", "label2id", "problem_type",
    // of searches
    "do_sample", "early_stopping", "length_penalty", "max_length", "min_length", "num_beams", "num_return_sequences",
    "repetition_penalty", "temperature", "top_k", "top_p"};

// In transformers several names are one function up to rounding.
constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"gelu_new", Activation::kGeluTanh},  {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh}, {"gelu", Activation::kGelu},
    {"gelu_python", Activation::kGelu},   {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},         {"relu", Activation::kRelu},
    {"relu2", Activation::kReluSquared}};

std::string shown(const json& value) {
  return base::dump_json(value).substr(0, kShown);
}

int64_t token_id(const json& value, const std::string& file, const std::string& key) {
  check_data(value.is_number_integer() && value >= json(-1) && value <= json(INT32_MAX),
             "{}: {} is {}, must be a token id", file, key, shown(value));
  return value.get<int64_t>();
}

// "rope_type", or in older files "type".
RotationScaling read_scaling(HfFields& rope, int64_t max_positions, nn::LayerOptions& options) {
  const std::string older = rope.text("type", "default"), type = rope.text("rope_type", older);
  if (type == "default") {
    return RotationScaling::kNone;
  }
  check_data(type == "linear" || type == "llama3",
             "{}: {} is \"{}\"; dragoman has default, linear and llama3; the model cannot be imported", rope.file(),
             rope.name_of("rope_type"), type);
  check_data(rope.has("factor"), "{}: key \"{}\" is missing", rope.file(), rope.name_of("factor"));
  options.rope_factor = rope.number("factor", 1e-3, 1e6, 1.0);
  if (type == "linear") {
    static_cast<void>(rope.has("original_max_position_embeddings"));  // of other types
    return RotationScaling::kLinear;
  }
  options.rope_low_frequency = rope.number("low_freq_factor", 1e-3, 1e6, 1.0);
  options.rope_high_frequency = rope.number("high_freq_factor", 1e-3, 1e6, 4.0);
  options.rope_trained_length = rope.integer("original_max_position_embeddings", 1, 1 << 24, max_positions);
  return RotationScaling::kLlama3;
}

}  // namespace

HfFields::HfFields(const json& object, std::string file_name, const std::string& place)
    : object_(object), file_(std::move(file_name)), fields_(object, file_, base::ErrorKind::kBadData, place) {}

bool HfFields::has(const std::string& key) {
  read_.insert(key);
  return fields_.has(key);
}

bool HfFields::is_written(const std::string& key) const {
  return object_.contains(key);
}

int64_t HfFields::integer(const std::string& key, int64_t low, int64_t high) {
  read_.insert(key);
  return fields_.integer(key, low, high);
}

int64_t HfFields::integer(const std::string& key, int64_t low, int64_t high, int64_t otherwise) {
  return has(key) ? fields_.integer(key, low, high) : otherwise;
}

double HfFields::number(const std::string& key, double low, double high, double otherwise) {
  const double number = has(key) ? fields_.number(key) : otherwise;
  check_data(number >= low && number <= high, "{}: {} must be from {} to {}, is {}", file_, name_of(key), low, high,
             number);
  return number;
}

bool HfFields::flag(const std::string& key, bool otherwise) {
  read_.insert(key);
  return fields_.flag(key, otherwise);
}

std::string HfFields::text(const std::string& key, const std::string& otherwise) {
  read_.insert(key);
  return fields_.text(key, otherwise);
}

const json& HfFields::value(const std::string& key) {
  read_.insert(key);
  return fields_.value(key);
}

void HfFields::must_be(const std::string& key, bool value) {
  check_data(flag(key, value) == value, "{}: {} is {}, dragoman imports models with {} only", file_, key, !value,
             value);
}

void HfFields::refuse_unknown() const {
  for (const auto& [key, value] : object_.items()) {
    check_data(
        value.is_null() || read_.contains(key) || std::ranges::find(kHarmlessKeys, key) != std::end(kHarmlessKeys),
        "{}: {} is {}; dragoman does not know this key, and it may change the model; the model cannot be imported",
        file_, name_of(key.substr(0, kShown)), shown(value));
  }
}

HfTokenIds read_token_ids(HfFields& fields) {
  HfTokenIds ids;
  const auto read = [&](const char* key) {
    return fields.has(key) ? token_id(fields.value(key), fields.file(), key) : int64_t{-1};
  };
  ids.bos = read("bos_token_id");
  ids.pad = read("pad_token_id");
  if (const std::string key = "eos_token_id"; fields.has(key)) {
    const json& eos = fields.value(key);
    for (const json& id : eos.is_array() ? eos : json::array({eos})) {
      ids.eos.push_back(token_id(id, fields.file(), key));
    }
  }
  return ids;
}

Activation read_activation(HfFields& fields, const std::string& key, const std::string& otherwise) {
  return activation_named(fields.text(key, otherwise), fields.file(), key);
}

Activation activation_named(std::string_view name, const std::string& file_name, const std::string& key) {
  const auto* const found = std::ranges::find(kActivations, name, [](const auto& row) { return row.first; });
  check_data(found != std::end(kActivations),
             "{}: {} is \"{}\", dragoman has gelu, gelu_new, gelu_pytorch_tanh, silu, relu and relu2", file_name, key,
             name);
  return found->second;
}

std::string_view hf_name_of(Activation activation) {
  const auto* const found = std::ranges::find(kActivations, activation, [](const auto& row) { return row.second; });
  return found == std::end(kActivations) ? "" : found->first;
}

void read_rotation(HfFields& fields, int64_t max_positions, nn::LayerOptions& options) {
  constexpr double kTheta = 10'000.0, kLeast = 1.0, kMost = 1e12;
  options.rope_theta = fields.number("rope_theta", kLeast, kMost, kTheta);
  const std::string key = fields.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  check_data(!(fields.has("rope_parameters") && fields.has("rope_scaling")),
             "{}: has rope_parameters and rope_scaling, which say the same; leave one out", fields.file());
  if (!fields.has(key)) {
    return;
  }
  HfFields rope(fields.value(key), fields.file(), key);
  options.rope_theta = rope.number("rope_theta", kLeast, kMost, options.rope_theta);
  check_data(rope.number("partial_rotary_factor", 0.0, 1.0, 1.0) == 1.0,
             "{}: {} is not 1; dragoman rotates whole heads", rope.file(), rope.name_of("partial_rotary_factor"));
  options.rope_scaling = read_scaling(rope, max_positions, options);
  rope.refuse_unknown();
}

}  // namespace dragoman::interop
