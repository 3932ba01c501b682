#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentinels.h"
#include "data/vocabulary/spm_pieces.h"
#include "interop/hf_fields.h"
#include "interop/hf_t5.h"
#include "interop/marian_tensors.h"
#include "interop/model_source.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using models::TransformerConfig;
using nlohmann::json;

template <typename Value>
void require_of_t5(bool condition, const std::string& file, const char* key, const Value& seen, const char* supported) {
  base::check_data(condition, "{}: {} is {}, T5 has {} only; the model cannot be exported", file, key, seen, supported);
}

void check_is_t5(const TransformerConfig& config, const std::string& file) {
  const nn::LayerOptions& layer = config.layer;
  require_of_t5(config.positions == nn::PositionKind::kRelative, file, "positions", base::name_of(config.positions),
                "relative");
  require_of_t5(config.norm_order == nn::NormOrder::kPre, file, "norm_order", base::name_of(config.norm_order), "pre");
  require_of_t5(config.decoder_sublayer == nn::DecoderSublayer::kSelfAttention, file, "decoder_sublayer",
                base::name_of(config.decoder_sublayer), "self-attention");
  require_of_t5(layer.norm == kernels::NormKind::kRms, file, "norm", base::name_of(layer.norm), "rms");
  require_of_t5(layer.biases == nn::Biases::kNone, file, "biases", base::name_of(layer.biases), "none");
  require_of_t5(models::shares_embeddings(config.tying), file, "tying", base::name_of(config.tying),
                "all and embeddings");
  require_of_t5(!layer.scale_embedding, file, "scale_embedding", layer.scale_embedding, "false");
  require_of_t5(!config.embedding_norm, file, "embedding_norm", config.embedding_norm, "false");
  require_of_t5(!layer.qk_norm, file, "qk_norm", layer.qk_norm, "false");
  require_of_t5(layer.n_kv_heads == 0, file, "n_kv_heads", layer.n_kv_heads, "0");
  require_of_t5(layer.d_key == 0, file, "d_key", layer.d_key, "0");
  require_of_t5(config.decoder_d_ff == 0, file, "decoder_d_ff", config.decoder_d_ff, "0");
  require_of_t5(config.decoder_n_heads == 0, file, "decoder_n_heads", config.decoder_n_heads, "0");
  require_of_t5(!hf_name_of(config.activation).empty(), file, "activation", base::name_of(config.activation),
                "those of transformers");
}

// Their ids for our pieces: <pad>, </s>, <unk>, then ours from 4 on; our <s> comes last unless it is their <pad>.
struct T5Ids {
  std::vector<int64_t> ours;  // of each of theirs
  int64_t start = 0;          // what their decoder begins with
};

T5Ids t5_ids_of(int64_t pieces, bool start_is_pad) {
  T5Ids ids{{data::kPadId, data::kEosId, data::kUnkId}};
  for (int64_t id = data::kEosId + 1; id < pieces; ++id) {
    ids.ours.push_back(id);
  }
  if (!start_is_pad) {
    ids.start = static_cast<int64_t>(ids.ours.size());
    ids.ours.push_back(data::kBosId);
  }
  return ids;
}

// An imported model has the first input of the decoder twice, once with a bias that keeps it out of the softmax.
bool t5_starts_with_pad(const tensor::NamedTensors& tensors) {
  const auto bias = tensors.find("output.bias");
  if (bias == tensors.end() || tensor::HostView<float>(bias->second)[data::kBosId] > kNever / 10) {
    return false;
  }
  const tensor::HostRows<float> rows(tensors.at("embedding.weight"));
  return std::ranges::equal(rows[data::kPadId], rows[data::kBosId]);
}

void check_no_bias(const tensor::NamedTensors& tensors, const std::string& file) {
  const auto bias = tensors.find("output.bias");
  if (bias == tensors.end()) {
    return;
  }
  const tensor::HostView<float> values(bias->second);
  for (size_t id = 0; id < values.size(); ++id) {
    base::check_data(values[id] == 0.0F || id == data::kBosId,
                     "{}: output.bias[{}] is {}, T5 has no output bias; the model cannot be exported", file, id,
                     values[id]);
  }
}

// spiece.model as T5 numbers it: <pad>, </s> and <unk> first. The file of an imported model has that order.
std::string spiece_of(const std::string& vocabulary, const std::string& file) {
  std::string spm = data::without_piece_list(vocabulary, file);
  const std::vector<data::SpmPiece> pieces = data::spm_pieces(spm, file);
  if (pieces.size() > data::kEosId && pieces[1].text == "</s>") {
    return spm;
  }
  std::vector<int64_t> order = {data::kPadId, data::kEosId, data::kUnkId};
  for (int64_t id = data::kEosId + 1; id < static_cast<int64_t>(pieces.size()); ++id) {
    order.push_back(id);
  }
  return with_spm_order(spm, order, file);
}

std::string feed_forward_of(const TransformerConfig& config) {
  if (config.layer.feed_forward == nn::FeedForwardKind::kPlain) {
    return std::string(hf_name_of(config.activation));
  }
  const bool is_gelu = config.activation == kernels::Activation::kGeluTanh;  // which older files call gelu
  return "gated-" + (is_gelu ? "gelu" : std::string(hf_name_of(config.activation)));
}

std::string t5_config_json(const TransformerConfig& config, const T5Ids& ids) {
  const json tree = {{"architectures", {"T5ForConditionalGeneration"}},
                     {"model_type", "t5"},
                     {"is_encoder_decoder", true},
                     {"vocab_size", ids.ours.size()},
                     {"d_model", config.d_model},
                     {"d_kv", config.encoder_layer().head_width()},
                     {"d_ff", config.d_ff},
                     {"num_heads", config.n_heads},
                     {"num_layers", config.encoder_layers},
                     {"num_decoder_layers", config.decoder_layers},
                     {"feed_forward_proj", feed_forward_of(config)},
                     {"relative_attention_num_buckets", config.layer.relative_buckets},
                     {"relative_attention_max_distance", config.layer.relative_distance},
                     {"layer_norm_epsilon", base::decimal(config.layer_norm_epsilon)},
                     {"dropout_rate", base::decimal(config.dropout)},
                     {"initializer_factor", 1.0},
                     {"n_positions", config.max_positions},
                     {"tie_word_embeddings", config.scale_output},
                     {"pad_token_id", 0},
                     {"eos_token_id", 1},
                     {"decoder_start_token_id", ids.start},
                     {"use_cache", true}};
  return base::dump_json(tree, 2) + "\n";
}

std::map<std::string, std::string> t5_texts_of(const TransformerConfig& config, const T5Ids& ids, size_t sentinels) {
  const json tokenizer = {{"tokenizer_class", "T5Tokenizer"},
                          {"extra_ids", sentinels},
                          {"model_max_length", config.max_positions},
                          {"eos_token", "</s>"},
                          {"unk_token", "<unk>"},
                          {"pad_token", "<pad>"}};
  const json generation = {{"decoder_start_token_id", ids.start},
                           {"eos_token_id", 1},
                           {"pad_token_id", 0},
                           {"max_length", std::min<int64_t>(config.max_positions, 512)}};
  return {{kHfConfigName, t5_config_json(config, ids)},
          {kHfGenerationName, base::dump_json(generation, 2) + "\n"},
          {kHfTokenizerConfigName, base::dump_json(tokenizer, 2) + "\n"}};
}

tensor::NamedTensors export_t5_tensors(const models::ModelFiles& model, const TransformerConfig& config,
                                       const T5Ids& ids, const std::string& file) {
  const std::vector<int64_t> columns = all_of(config.d_model);
  tensor::NamedTensors tensors = export_pairs(model.tensors, hf_t5_tensors(config), file);
  // T5 does not divide products by the root of the head's width. Shorter queries do the same.
  if (config.layer.scale_attention) {
    const float factor = 1.0F / std::sqrt(static_cast<float>(config.encoder_layer().head_width()));
    for (auto& [name, tensor] : tensors) {
      tensor = name.ends_with("Attention.q.weight") ? scaled(tensor, factor) : tensor;
    }
  }
  tensors["shared.weight"] = gathered(model.tensors.at("embedding.weight"), ids.ours, columns);
  if (config.tying == models::Tying::kEmbeddings) {
    tensors["lm_head.weight"] = gathered(model.tensors.at("output.weight"), ids.ours, columns);
  } else if (!config.scale_output) {
    tensors["lm_head.weight"] = tensors.at("shared.weight").clone();
  }
  return tensors;
}

}  // namespace

ExportedModel export_t5(const models::ModelFiles& model, const fs::path& folder) {
  const std::string config_name = (folder / models::kConfigName).string();
  const TransformerConfig config = models::transformer_config_from_json(model.config, config_name);
  const std::string weights_name = (folder / models::kWeightsName).string();
  check_is_t5(config, config_name);
  models::check_tensors(models::make_model(config)->parameters(), model.tensors, weights_name);
  check_no_bias(model.tensors, weights_name);
  const auto vocabulary = model.vocabularies.find(models::kJointVocabularyName);
  base::check_data(vocabulary != model.vocabularies.end(), "{}: has no {}; T5 has one vocabulary for both sides",
                   folder.string(), models::kJointVocabularyName);
  const std::string file = (folder / models::kJointVocabularyName).string();
  const data::Vocabulary ours = data::Vocabulary::from_bytes(vocabulary->second, file);
  const T5Ids ids = t5_ids_of(ours.size(), t5_starts_with_pad(model.tensors));
  ExportedModel exported;
  exported.tensors = export_t5_tensors(model, config, ids, weights_name);
  exported.texts = t5_texts_of(config, ids, data::sentinel_ids(ours).size());
  exported.texts[kT5VocabularyName] = spiece_of(vocabulary->second, file);
  return exported;
}

}  // namespace dragoman::interop
