#include "interop/hf_tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "interop/marian_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

using models::DecoderOnlyConfig;
using tensor::Shape;
using tensor::Tensor;

constexpr const char* kGpt2Prefix = "transformer.";
constexpr const char* kOutputName = "lm_head.weight";

// Collects the tensors of one model. Both programs may lack a bias.
class Tensors {
 public:
  Tensors(HfLayout layout, const DecoderOnlyConfig& config, const HfBiases& biases, std::string prefix)
      : config_(config), layer_(config.layer_config()), biases_(biases), prefix_(std::move(prefix)) {
    (layout == HfLayout::kGpt2) ? add_gpt2() : add_llama();
    if (!config.tied_output) {
      add({.ours = "output.weight", .theirs = kOutputName, .shape = {config.vocab_size, config.d_model}});
    }
  }

  std::vector<HfTensor> take() { return std::move(tensors_); }

 private:
  void add(HfTensor tensor) { tensors_.push_back(std::move(tensor)); }

  void add_table(const std::string& theirs) {
    add({.ours = "embedding.weight",
         .theirs = theirs,
         .shape = {config_.vocab_size, config_.d_model},
         .other_names = config_.tied_output ? std::vector<std::string>{kOutputName} : std::vector<std::string>{}});
  }

  // An affine map. @param ours_bias, theirs_bias  whether each program has a bias here
  void add_map(const std::string& ours, const std::string& theirs, Shape shape, bool ours_bias, bool theirs_bias) {
    const bool transposed = !is_gpt2_;
    add({.ours = ours + ".weight", .theirs = theirs + ".weight", .shape = shape, .transposed = transposed});
    add_bias(ours, theirs, shape[1], ours_bias, theirs_bias);
  }

  void add_bias(const std::string& ours, const std::string& theirs, int64_t width, bool ours_bias, bool theirs_bias) {
    if (ours_bias || theirs_bias) {
      add({.ours = ours + ".bias",
           .theirs = theirs + ".bias",
           .shape = {width},
           .is_ours = ours_bias,
           .is_theirs = theirs_bias});
    }
  }

  void add_norm(const std::string& ours, const std::string& theirs) {
    const bool has_bias = config_.layer.norm == kernels::NormKind::kLayer && all_biases();
    add({.ours = ours + ".gain", .theirs = theirs + ".weight", .shape = {config_.d_model}});
    add_bias(ours, theirs, config_.d_model, has_bias, biases_.norms);
  }

  bool all_biases() const { return config_.layer.biases == nn::Biases::kAll; }
  bool input_biases() const { return config_.layer.biases != nn::Biases::kNone; }

  void add_gpt2() {
    is_gpt2_ = true;
    const int64_t d = config_.d_model;
    add_table(prefix_ + "wte.weight");
    add({.ours = "embedding.positions", .theirs = prefix_ + "wpe.weight", .shape = {config_.max_positions, d}});
    for (int layer = 0; layer < config_.layers; ++layer) {
      const std::string ours = fmt::format("layers.{}.", layer), theirs = fmt::format("{}h.{}.", prefix_, layer);
      add_norm(ours + "self_attention.norm", theirs + "ln_1");
      add_joint_attention(ours + "self_attention.", theirs + "attn.c_attn");
      add_map(ours + "self_attention.output", theirs + "attn.c_proj", {d, d}, all_biases(), true);
      add_norm(ours + "feed_forward.norm", theirs + "ln_2");
      add_map(ours + "feed_forward.inner", theirs + "mlp.c_fc", {d, config_.d_ff}, all_biases(), true);
      add_map(ours + "feed_forward.outer", theirs + "mlp.c_proj", {config_.d_ff, d}, all_biases(), true);
    }
    add_norm("norm", prefix_ + "ln_f");
  }

  // Queries, keys and values side by side.
  void add_joint_attention(const std::string& ours, const std::string& theirs) {
    const int64_t d = config_.d_model;
    int64_t column = 0;
    for (const char* part : {"query", "key", "value"}) {
      add({.ours = ours + part + ".weight",
           .theirs = theirs + ".weight",
           .shape = {d, d},
           .first_column = column,
           .all_columns = 3 * d});
      add({.ours = ours + part + ".bias",
           .theirs = theirs + ".bias",
           .shape = {d},
           .is_ours = input_biases(),
           .first_column = column,
           .all_columns = 3 * d});
      column += d;
    }
  }

  void add_llama() {
    const int64_t d = config_.d_model, f = config_.d_ff;
    add_table(prefix_ + "embed_tokens.weight");
    for (int layer = 0; layer < config_.layers; ++layer) {
      const std::string ours = fmt::format("layers.{}.", layer), theirs = fmt::format("{}layers.{}.", prefix_, layer);
      add_norm(ours + "self_attention.norm", theirs + "input_layernorm");
      add_attention(ours + "self_attention.", theirs + "self_attn.");
      add_norm(ours + "feed_forward.norm", theirs + "post_attention_layernorm");
      const bool theirs_bias = biases_.feed_forward;
      add_map(ours + "feed_forward.gate", theirs + "mlp.gate_proj", {d, f}, all_biases(), theirs_bias);
      add_map(ours + "feed_forward.inner", theirs + "mlp.up_proj", {d, f}, all_biases(), theirs_bias);
      add_map(ours + "feed_forward.outer", theirs + "mlp.down_proj", {f, d}, all_biases(), theirs_bias);
    }
    add_norm("norm", prefix_ + "norm");
  }

  void add_attention(const std::string& ours, const std::string& theirs) {
    const int64_t d = config_.d_model, width = layer_.head_width();
    const int64_t queries = layer_.n_heads * width, keys = layer_.kv_heads() * width;
    const bool theirs_bias = biases_.attention_input;
    add_map(ours + "query", theirs + "q_proj", {d, queries}, input_biases(), theirs_bias);
    add_map(ours + "key", theirs + "k_proj", {d, keys}, input_biases(), theirs_bias);
    add_map(ours + "value", theirs + "v_proj", {d, keys}, input_biases(), theirs_bias);
    add_map(ours + "output", theirs + "o_proj", {queries, d}, all_biases(), biases_.attention_output);
    if (config_.layer.qk_norm) {
      add({.ours = ours + "query_norm.gain", .theirs = theirs + "q_norm.weight", .shape = {width}});
      add({.ours = ours + "key_norm.gain", .theirs = theirs + "k_norm.weight", .shape = {width}});
    }
  }

  const DecoderOnlyConfig& config_;
  nn::LayerConfig layer_;
  HfBiases biases_;
  std::string prefix_;
  bool is_gpt2_ = false;
  std::vector<HfTensor> tensors_;
};

// The shape of the tensor in the folder.
Shape their_shape(const HfTensor& pair) {
  const int64_t columns = pair.all_columns > 0 ? pair.all_columns : pair.shape[pair.shape.rank() - 1];
  if (pair.shape.rank() == 1) {
    return {columns};
  }
  return pair.transposed ? Shape{columns, pair.shape[0]} : Shape{pair.rows_before + pair.shape[0], columns};
}

// A matrix of one row for a vector, so that both are cut by columns.
Tensor as_matrix(const Tensor& tensor) {
  return tensor.rank() == 1 ? tensor.reshape({1, tensor.dim(0)}) : tensor;
}

Tensor to_ours(const HfTensor& pair, const Tensor& theirs) {
  if (pair.transposed) {
    return transposed(theirs);
  }
  if (pair.rows_before > 0) {
    return theirs.rows(pair.rows_before, pair.rows_before + pair.shape[0]).clone();
  }
  if (pair.all_columns == 0) {
    return theirs;
  }
  const int64_t width = pair.shape[pair.shape.rank() - 1];
  return as_matrix(theirs).columns(pair.first_column, pair.first_column + width).clone().reshape(pair.shape);
}

void require_zero(const HfTensor& pair, const Tensor& ours, const std::string& file) {
  const tensor::HostView<float> values(ours);
  base::check_data(std::ranges::all_of(values.span(), [](float value) { return value == 0.0F; }),
                   "{}: tensor '{}' is not zero, and the layout of this model in transformers has no such bias; the "
                   "model cannot be exported",
                   file, pair.ours);
}

// Writes one of the tensors that stand side by side in theirs.
void put_columns(const HfTensor& pair, const Tensor& ours, Tensor& theirs) {
  const int64_t width = pair.shape[pair.shape.rank() - 1];
  as_matrix(theirs).columns(pair.first_column, pair.first_column + width).copy_from(as_matrix(ours));
}

// Buffers of older files, which transformers computes now.
void skip_buffers(TensorSource& source, const HfLanguageConfig& config, const std::string& prefix) {
  for (int layer = 0; layer < config.model.layers; ++layer) {
    source.skip(fmt::format("{}h.{}.attn.bias", prefix, layer));
    source.skip(fmt::format("{}h.{}.attn.masked_bias", prefix, layer));
    source.skip(fmt::format("{}layers.{}.self_attn.rotary_emb.inv_freq", prefix, layer));
  }
}

std::string prefix_of(HfLayout layout) {
  return layout == HfLayout::kGpt2 ? kGpt2Prefix : "model.";
}

}  // namespace

std::vector<HfTensor> hf_tensors(HfLayout layout, const DecoderOnlyConfig& config, const HfBiases& biases,
                                 const std::string& prefix) {
  return Tensors(layout, config, biases, prefix).take();
}

tensor::NamedTensors import_pairs(TensorSource& source, const std::vector<HfTensor>& pairs) {
  tensor::NamedTensors tensors;
  for (const HfTensor& pair : pairs) {
    if (!pair.is_theirs) {
      tensors[pair.ours] = Tensor::zeros(pair.shape);
      continue;
    }
    std::vector<std::string> names = {pair.theirs};
    names.insert(names.end(), pair.other_names.begin(), pair.other_names.end());
    tensors[pair.ours] = to_ours(pair, source.get_shared(names, their_shape(pair)));
  }
  return tensors;
}

tensor::NamedTensors import_hf_tensors(TensorSource& source, const HfLanguageConfig& config) {
  const bool is_bare = config.layout == HfLayout::kGpt2 && source.has("wte.weight");
  const std::string prefix = is_bare ? "" : prefix_of(config.layout);
  skip_buffers(source, config, prefix);
  tensor::NamedTensors tensors = import_pairs(source, hf_tensors(config.layout, config.model, config.biases, prefix));
  source.check_all_used(config.layout == HfLayout::kGpt2 ? "a GPT-2 model" : "a model");
  return tensors;
}

tensor::NamedTensors export_hf_tensors(const tensor::NamedTensors& ours, const HfLanguageConfig& config,
                                       const std::string& file) {
  return export_pairs(ours, hf_tensors(config.layout, config.model, config.biases, prefix_of(config.layout)), file);
}

tensor::NamedTensors export_pairs(const tensor::NamedTensors& ours, const std::vector<HfTensor>& pairs,
                                  const std::string& file) {
  tensor::NamedTensors tensors;
  for (const HfTensor& pair : pairs) {
    if (!pair.is_theirs) {
      require_zero(pair, ours.at(pair.ours), file);
      continue;
    }
    const Tensor mine = pair.is_ours ? ours.at(pair.ours) : Tensor::zeros(pair.shape);
    if (pair.all_columns > 0) {
      Tensor& joint = tensors.try_emplace(pair.theirs, Tensor::empty(their_shape(pair))).first->second;
      put_columns(pair, mine, joint);
    } else if (pair.rows_before > 0) {
      Tensor all = Tensor::zeros(their_shape(pair));
      all.rows(pair.rows_before, pair.rows_before + pair.shape[0]).copy_from(mine);
      tensors[pair.theirs] = all;
    } else {
      tensors[pair.theirs] = pair.transposed ? transposed(mine) : mine;
    }
  }
  return tensors;
}

Tensor scaled(const Tensor& tensor, float factor) {
  Tensor result = tensor.clone();
  tensor::HostEdit<float> edit(result);
  for (float& value : edit.span()) {
    value *= factor;
  }
  return result;
}

}  // namespace dragoman::interop
