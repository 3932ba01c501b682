#include <fmt/format.h>

#include "interop/hf_t5.h"

namespace dragoman::interop {
namespace {

using models::TransformerConfig;

// Collects the tensors of one stack.
class Stack {
 public:
  Stack(const TransformerConfig& config, std::string name, std::vector<HfTensor>& tensors)
      : config_(config), layer_(config.encoder_layer()), name_(std::move(name)), tensors_(tensors) {}

  void add_layer(int index, bool has_memory) {
    const std::string ours = fmt::format("{}.layers.{}.", name_, index);
    int sublayer = 0;
    const auto theirs = [&] { return fmt::format("{}.block.{}.layer.{}.", name_, index, sublayer++); };
    add_attention(ours + "self_attention", theirs(), "SelfAttention");
    if (has_memory) {
      add_attention(ours + "cross_attention", theirs(), "EncDecAttention");
    }
    add_feed_forward(ours + "feed_forward", theirs());
  }

  void add_rest() {
    tensors_.push_back({.ours = name_ + ".relative_positions.weight",
                        .theirs = name_ + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                        .shape = {config_.layer.relative_buckets, layer_.n_heads}});
    add_norm(name_ + ".norm", name_ + ".final_layer_norm");
  }

 private:
  void add_map(const std::string& ours, const std::string& theirs, int64_t d_in, int64_t d_out) {
    tensors_.push_back(
        {.ours = ours + ".weight", .theirs = theirs + ".weight", .shape = {d_in, d_out}, .transposed = true});
  }

  void add_norm(const std::string& ours, const std::string& theirs) {
    tensors_.push_back({.ours = ours + ".gain", .theirs = theirs + ".weight", .shape = {config_.d_model}});
  }

  void add_attention(const std::string& ours, const std::string& sublayer, const char* module) {
    const int64_t d = config_.d_model, heads = layer_.n_heads * layer_.head_width();
    const std::string theirs = sublayer + module + ".";
    add_map(ours + ".query", theirs + "q", d, heads);
    add_map(ours + ".key", theirs + "k", d, heads);
    add_map(ours + ".value", theirs + "v", d, heads);
    add_map(ours + ".output", theirs + "o", heads, d);
    add_norm(ours + ".norm", sublayer + "layer_norm");
  }

  void add_feed_forward(const std::string& ours, const std::string& sublayer) {
    const std::string theirs = sublayer + "DenseReluDense.";
    const bool is_gated = config_.layer.feed_forward == nn::FeedForwardKind::kGated;
    if (is_gated) {
      add_map(ours + ".gate", theirs + "wi_0", config_.d_model, config_.d_ff);
    }
    add_map(ours + ".inner", theirs + (is_gated ? "wi_1" : "wi"), config_.d_model, config_.d_ff);
    add_map(ours + ".outer", theirs + "wo", config_.d_ff, config_.d_model);
    add_norm(ours + ".norm", sublayer + "layer_norm");
  }

  const TransformerConfig& config_;
  nn::LayerConfig layer_;
  std::string name_;
  std::vector<HfTensor>& tensors_;
};

}  // namespace

std::vector<HfTensor> hf_t5_tensors(const TransformerConfig& config) {
  std::vector<HfTensor> tensors;
  Stack encoder(config, "encoder", tensors), decoder(config, "decoder", tensors);
  for (int index = 0; index < config.encoder_layers; ++index) {
    encoder.add_layer(index, /*has_memory=*/false);
  }
  encoder.add_rest();
  for (int index = 0; index < config.decoder_layers; ++index) {
    decoder.add_layer(index, /*has_memory=*/true);
  }
  decoder.add_rest();
  return tensors;
}

}  // namespace dragoman::interop
