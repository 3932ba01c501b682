#include "interop/gguf_export.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/chat/chat_template.h"
#include "interop/gguf_tokenizer.h"
#include "interop/hf_export.h"
#include "interop/marian_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using models::DecoderOnlyConfig;
using tensor::Tensor;

// Converts one model. The names of the keys begin with the architecture.
class Converter {
 public:
  Converter(const PlainLanguageModel& model, GgufType type)
      : model_(model), config_(model.config), layer_(model.config.layer_config()), type_(type), arch_(architecture()) {}

  ExportedGguf convert(const std::string& tokenizer, const std::string& tokenizer_name) {
    add_keys();
    add_gguf_tokenizer(tokenizer, tokenizer_name, config_.vocab_size, exported_.file);
    add_table("token_embd", "embedding.weight");
    if (!config_.tied_output) {
      add_table("output", "output.weight");
    }
    add_norm("output_norm", "norm");
    is_gpt2() ? add_table("position_embd", "embedding.positions") : add_rotation();
    for (int layer = 0; layer < config_.layers; ++layer) {
      add_layer(fmt::format("blk.{}.", layer), fmt::format("layers.{}.", layer));
    }
    return std::move(exported_);
  }

 private:
  template <typename Value>
  void require(bool condition, const char* key, const Value& seen, const char* supported) const {
    base::check_data(condition, "{}: {} is {}, llama.cpp has {} only; the model cannot be exported", model_.config_name,
                     key, seen, supported);
  }

  const char* architecture() {
    const nn::LayerOptions& options = config_.layer;
    require(config_.norm_order == nn::NormOrder::kPre, "norm_order", base::name_of(config_.norm_order), "pre");
    require(options.d_key == 0, "d_key", options.d_key, "0");
    require(options.scale_attention, "scale_attention", options.scale_attention, "true");
    require(options.window == 0 || options.window >= config_.max_positions, "window", options.window, "0");
    if (options.norm == kernels::NormKind::kLayer) {
      check_gpt2();
      return "gpt2";
    }
    require(config_.positions == nn::PositionKind::kRotary, "positions", base::name_of(config_.positions),
            "rope with norm rms");
    require(options.feed_forward == nn::FeedForwardKind::kGated, "feed_forward", base::name_of(options.feed_forward),
            "gated with norm rms");
    require(config_.activation == kernels::Activation::kSilu, "activation", base::name_of(config_.activation),
            "silu with norm rms");
    if (options.qk_norm) {
      require(options.biases == nn::Biases::kNone, "biases", base::name_of(options.biases), "none with qk_norm");
      return "qwen3";
    }
    return options.biases == nn::Biases::kAttentionInput ? "qwen2" : "llama";
  }

  void check_gpt2() {
    const nn::LayerOptions& options = config_.layer;
    require(config_.positions == nn::PositionKind::kLearned, "positions", base::name_of(config_.positions),
            "learned, sinusoidal and none with norm layer");
    require(options.feed_forward == nn::FeedForwardKind::kPlain, "feed_forward", base::name_of(options.feed_forward),
            "plain with norm layer");
    require(layer_.kv_heads() == config_.n_heads, "n_kv_heads", options.n_kv_heads, "that of n_heads with norm layer");
    require(layer_.head_width() * config_.n_heads == config_.d_model, "d_head", options.d_head,
            "d_model / n_heads with norm layer");
    require(!options.qk_norm, "qk_norm", options.qk_norm, "false with norm layer");
    const bool is_near = config_.activation == kernels::Activation::kGelu;
    require(config_.activation == kernels::Activation::kGeluTanh || is_near, "activation",
            base::name_of(config_.activation), "gelu-tanh with norm layer");
    if (is_near) {
      exported_.notes.emplace_back("llama.cpp computes gelu by its tanh formula, so logits differ by about 1e-3");
    }
  }

  bool is_gpt2() const { return std::string_view(arch_) == "gpt2"; }
  bool turns_neighbours() const { return std::string_view(arch_) == "llama"; }

  template <typename Value>
  void add_key(const char* key, Value value) {
    exported_.file.add(fmt::format("{}.{}", arch_, key), value);
  }

  void add_keys() {
    GgufFile& file = exported_.file;
    file.add("general.architecture", std::string_view(arch_));
    file.add("general.name", std::string_view("dragoman"));
    file.add("general.alignment", uint32_t{32});
    constexpr uint32_t kFileTypes[] = {0, 1, 7};  // all f32, mostly f16, mostly q8_0
    file.add("general.file_type", kFileTypes[static_cast<size_t>(type_)]);
    add_key("context_length", static_cast<uint32_t>(config_.max_positions));
    add_key("embedding_length", static_cast<uint32_t>(config_.d_model));
    add_key("block_count", static_cast<uint32_t>(config_.layers));
    add_key("feed_forward_length", static_cast<uint32_t>(config_.d_ff));
    add_key("attention.head_count", static_cast<uint32_t>(config_.n_heads));
    add_key("attention.head_count_kv", static_cast<uint32_t>(layer_.kv_heads()));
    if (is_gpt2()) {
      add_key("attention.layer_norm_epsilon", config_.layer_norm_epsilon);
      return;
    }
    const auto width = static_cast<uint32_t>(layer_.head_width());
    add_key("attention.layer_norm_rms_epsilon", config_.layer_norm_epsilon);
    add_key("attention.key_length", width);
    add_key("attention.value_length", width);
    add_key("rope.dimension_count", width);
    add_key("rope.freq_base", static_cast<float>(config_.layer.rope_theta));
    add_key("vocab_size", static_cast<uint32_t>(config_.vocab_size));
    if (config_.layer.rope_scaling == kernels::RotationScaling::kLinear) {
      add_key("rope.scaling.type", std::string_view("linear"));
      add_key("rope.scaling.factor", static_cast<float>(config_.layer.rope_factor));
    }
  }

  // The divisors of the frequencies of Llama 3.
  void add_rotation() {
    const nn::LayerOptions& options = config_.layer;
    if (options.rope_scaling != kernels::RotationScaling::kLlama3) {
      return;
    }
    const int64_t pairs = layer_.head_width() / 2;
    Tensor divisors = Tensor::empty({pairs});
    tensor::HostEdit<float> edit(divisors);
    for (int64_t i = 0; i < pairs; ++i) {
      const double frequency =
          std::pow(options.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(layer_.head_width()));
      const double turns = static_cast<double>(options.rope_trained_length) * frequency / (2.0 * std::numbers::pi);
      const double share = std::clamp(
          (turns - options.rope_low_frequency) / (options.rope_high_frequency - options.rope_low_frequency), 0.0, 1.0);
      edit.span()[static_cast<size_t>(i)] = static_cast<float>(1.0 / ((1.0 - share) / options.rope_factor + share));
    }
    exported_.file.add_tensor("rope_freqs.weight", divisors, GgufType::kF32);
  }

  void add_table(const char* theirs, const char* ours) {
    exported_.file.add_tensor(std::string(theirs) + ".weight", model_.tensors.at(ours), type_);
  }

  // A vector that our model may lack: a bias, or zeros where llama.cpp asks for one.
  void add_vector(const std::string& theirs, const std::string& ours, int64_t width, bool is_needed) {
    const auto found = model_.tensors.find(ours);
    if (found != model_.tensors.end()) {
      exported_.file.add_tensor(theirs, found->second, GgufType::kF32);
    } else if (is_needed) {
      exported_.file.add_tensor(theirs, Tensor::zeros({width}), GgufType::kF32);
    }
  }

  void add_norm(const std::string& theirs, const std::string& ours) {
    add_vector(theirs + ".weight", ours + ".gain", config_.d_model, true);
    add_vector(theirs + ".bias", ours + ".bias", config_.d_model, is_gpt2());
  }

  // An affine map, [Dout, Din] in the file.
  void add_map(const std::string& theirs, const std::string& ours) {
    const Tensor weight = transposed(model_.tensors.at(ours + ".weight"));
    exported_.file.add_tensor(theirs + ".weight", weight, type_);
    add_vector(theirs + ".bias", ours + ".bias", weight.dim(0), is_gpt2());
  }

  void add_layer(const std::string& theirs, const std::string& ours) {
    const std::string attention = ours + "self_attention.", feed_forward = ours + "feed_forward.";
    add_norm(theirs + "attn_norm", attention + "norm");
    if (is_gpt2()) {
      add_joint_attention(theirs + "attn_qkv", attention);
    } else {
      add_turned(theirs + "attn_q", attention + "query", config_.n_heads);
      add_turned(theirs + "attn_k", attention + "key", layer_.kv_heads());
      add_map(theirs + "attn_v", attention + "value");
      add_map(theirs + "ffn_gate", feed_forward + "gate");
    }
    if (config_.layer.qk_norm) {
      add_vector(theirs + "attn_q_norm.weight", attention + "query_norm.gain", layer_.head_width(), true);
      add_vector(theirs + "attn_k_norm.weight", attention + "key_norm.gain", layer_.head_width(), true);
    }
    add_map(theirs + "attn_output", attention + "output");
    add_norm(theirs + "ffn_norm", feed_forward + "norm");
    add_map(theirs + "ffn_up", feed_forward + "inner");
    add_map(theirs + "ffn_down", feed_forward + "outer");
  }

  void add_joint_attention(const std::string& theirs, const std::string& ours) {
    const int64_t d = config_.d_model;
    Tensor weight = Tensor::empty({3 * d, d}), bias = Tensor::zeros({3 * d});
    int64_t row = 0;
    for (const char* part : {"query", "key", "value"}) {
      weight.rows(row, row + d).copy_from(transposed(model_.tensors.at(ours + part + ".weight")));
      if (const auto found = model_.tensors.find(ours + part + ".bias"); found != model_.tensors.end()) {
        bias.rows(row, row + d).copy_from(found->second);
      }
      row += d;
    }
    exported_.file.add_tensor(theirs + ".weight", weight, type_);
    exported_.file.add_tensor(theirs + ".bias", bias, GgufType::kF32);
  }

  // Queries and keys. The architecture llama turns neighbours, where dragoman turns the halves of a head.
  void add_turned(const std::string& theirs, const std::string& ours, int64_t heads) {
    if (!turns_neighbours()) {
      add_map(theirs, ours);
      return;
    }
    const int64_t half = layer_.head_width() / 2;
    std::vector<int64_t> outputs;
    for (int64_t i = 0; i < heads * half; ++i) {
      const int64_t first = i / half * 2 * half + i % half;
      outputs.insert(outputs.end(), {first, first + half});
    }
    const Tensor weight = transposed(model_.tensors.at(ours + ".weight"));
    exported_.file.add_tensor(theirs + ".weight", gathered(weight, outputs, all_of(weight.dim(1))), type_);
    if (const auto found = model_.tensors.find(ours + ".bias"); found != model_.tensors.end()) {
      exported_.file.add_tensor(theirs + ".bias", gathered(found->second, outputs), GgufType::kF32);
    }
  }

  const PlainLanguageModel& model_;
  const DecoderOnlyConfig& config_;
  nn::LayerConfig layer_;
  GgufType type_;
  ExportedGguf exported_;
  const char* arch_;  // after exported_, to which it may add a note
};

}  // namespace

ExportedGguf export_gguf(const models::ModelFiles& model, const fs::path& folder, GgufType type) {
  PlainLanguageModel plain = plain_language_model(model, folder);
  if (plain.config.layer.norm == kernels::NormKind::kLayer) {
    plain = with_position_rows(std::move(plain));
  }
  const auto tokenizer = model.vocabularies.find(models::kTokenizerName);
  base::check_data(tokenizer != model.vocabularies.end(),
                   "{}: has no {}; train with a vocabulary of characters or of byte-level BPE to export the model",
                   folder.string(), models::kTokenizerName);
  ExportedGguf exported = Converter(plain, type).convert(tokenizer->second, (folder / models::kTokenizerName).string());
  if (!model.chat.empty()) {
    exported.file.add("tokenizer.chat_template",
                      data::chat_file_from_json(model.chat, (folder / models::kChatName).string()).source);
  }
  return exported;
}

}  // namespace dragoman::interop
