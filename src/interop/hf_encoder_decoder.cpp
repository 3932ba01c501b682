#include "interop/hf_encoder_decoder.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "interop/hf_languages.h"
#include "interop/marian_tensors.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"

namespace dragoman::interop {

using models::TransformerConfig;

ImportedModel completed(HfEncoderDecoder read) {
  TransformerConfig& model = read.model;
  model.source_vocab_size = model.target_vocab_size = static_cast<int64_t>(read.order.pieces.size());
  models::check_tensors(models::make_model(model)->parameters(), read.tensors, read.weights_file);
  ImportedModel imported;
  imported.files.config = models::to_json(model);
  imported.files.tensors = std::move(read.tensors);
  imported.files.vocabularies = std::move(read.vocabularies);
  imported.files.languages = std::move(read.languages);
  imported.search = read_marian_search(read.folder, read.config_text);
  return imported;
}

std::string read_spm(const std::filesystem::path& file) {
  std::string spm = base::read_file(file, data::kMaxModelBytes);
  data::check_sentencepiece_model(spm, file.string());
  return spm;
}

std::optional<int64_t> forced_token(const std::filesystem::path& folder) {
  constexpr const char* kForced = "forced_bos_token_id";
  for (const char* file : {kHfGenerationName, kHfConfigName}) {
    if (!is_there(folder / file)) {
      continue;
    }
    const std::string name = (folder / file).string();
    const nlohmann::json tree = base::parse_json(read_json(folder, file), name);
    if (!tree.is_object() || !tree.contains(kForced) || tree[kForced].is_null()) {
      continue;
    }
    base::check_data(tree[kForced].is_number_integer(), "{}: {} must be a token id", name, kForced);
    return tree[kForced].get<int64_t>();
  }
  return std::nullopt;
}

void read_bart_sizes(HfFields& fields, TransformerConfig& model, const BartDefaults& defaults) {
  model.source_vocab_size = model.target_vocab_size = fields.integer("vocab_size", 5, kMaxVocabulary);
  model.d_model = fields.integer("d_model", 4, kMaxWidth);
  model.encoder_layers = static_cast<int>(fields.integer("encoder_layers", 1, 512));
  model.decoder_layers = static_cast<int>(fields.integer("decoder_layers", 1, 512));
  model.n_heads = static_cast<int>(fields.integer("encoder_attention_heads", 1, kMaxHeads));
  model.d_ff = fields.integer("encoder_ffn_dim", 1, 4 * kMaxWidth);
  const auto heads = static_cast<int>(fields.integer("decoder_attention_heads", 1, kMaxHeads));
  const int64_t d_ff = fields.integer("decoder_ffn_dim", 1, 4 * kMaxWidth);
  model.decoder_n_heads = heads == model.n_heads ? 0 : heads;
  model.decoder_d_ff = d_ff == model.d_ff ? 0 : d_ff;
  model.max_positions = fields.integer("max_position_embeddings", 4, kMaxPositions);
  model.dropout = static_cast<float>(fields.number("dropout", 0.0, 0.95, 0.1));
  model.attention_dropout = static_cast<float>(fields.number("attention_dropout", 0.0, 0.95, 0.1));
  model.activation_dropout = static_cast<float>(fields.number("activation_dropout", 0.0, 0.95, 0.0));
  model.activation = read_activation(fields, "activation_function", defaults.activation);
  model.layer.scale_embedding = fields.flag("scale_embedding", defaults.scale_embedding);
  model.positions = nn::PositionKind::kLearned;
  model.output_bias = true;  // at least for our <s>, a second id of the first input of the decoder
  fields.must_be("is_encoder_decoder", true);
  fields.must_be("is_decoder", false);
  fields.must_be("static_position_embeddings", false);
  fields.must_be("add_bias_logits", false);
  fields.must_be("tie_word_embeddings", true);
  for (const char* key :
       {"encoder_layerdrop", "decoder_layerdrop", "init_std", "num_hidden_layers", "tokenizer_class",
        "forced_eos_token_id", "forced_bos_token_id", "force_bos_token_to_be_generated", "classif_dropout",
        "classifier_dropout", "extra_pos_embeddings", "num_labels", "_num_labels"}) {
    static_cast<void>(fields.has(key));  // of training and of searches
  }
}

SpecialPieces read_fairseq_ids(HfFields& fields, int64_t vocab_size, const char* family) {
  constexpr const char* kStart = "decoder_start_token_id";
  const auto check = [&](const char* key, int64_t seen, int64_t id) {
    base::check_data(seen == id, "{}: {} is {}, that of {} is {}", fields.file(), key, seen, family, id);
  };
  const auto read = [&](const char* key, int64_t id) { check(key, fields.integer(key, 0, kMaxVocabulary, id), id); };
  read("pad_token_id", kFairseqSpecial.pad);
  read("eos_token_id", kFairseqSpecial.eos);
  read("bos_token_id", 0);
  SpecialPieces special = kFairseqSpecial;
  const int64_t start = fields.integer(kStart, 0, kMaxVocabulary, special.start);
  if (start == vocab_size - 1) {
    special.start = start;
  } else {
    check(kStart, start, special.start);
  }
  return special;
}

void check_bart_config(const HfFields& fields, const TransformerConfig& model) {
  fields.refuse_unknown();
  try {
    model.check();
  } catch (const base::Error& error) {
    base::fail(base::ErrorKind::kBadData, "{}: {}", fields.file(), error.what());
  }
}

std::vector<HfTensor> bart_positions(const TransformerConfig& model) {
  constexpr int64_t kOffset = 2;
  std::vector<HfTensor> tensors;
  for (const std::string stack : {"encoder", "decoder"}) {
    tensors.push_back({.ours = stack + ".embedding.positions",
                       .theirs = "model." + stack + ".embed_positions.weight",
                       .shape = {model.max_positions, model.d_model},
                       .rows_before = kOffset});
  }
  return tensors;
}

std::vector<HfTensor> bart_tensors(const TransformerConfig& model) {
  std::vector<HfTensor> tensors;
  for (const TensorPair& pair : layer_tensors(model)) {
    tensors.push_back(
        {.ours = pair.ours, .theirs = pair.marians, .shape = pair.shape, .transposed = pair.shape.rank() == 2});
  }
  const auto add_norm = [&](const std::string& ours, const std::string& theirs) {
    tensors.push_back({.ours = ours + ".gain", .theirs = theirs + ".weight", .shape = {model.d_model}});
    tensors.push_back({.ours = ours + ".bias", .theirs = theirs + ".bias", .shape = {model.d_model}});
  };
  for (const std::string stack : {"encoder", "decoder"}) {
    if (model.norm_order == nn::NormOrder::kPre) {
      add_norm(stack + ".norm", "model." + stack + ".layer_norm");
    }
    if (model.embedding_norm) {
      add_norm(stack + ".embedding.norm", "model." + stack + ".layernorm_embedding");
    }
  }
  return tensors;
}

tensor::NamedTensors read_family_tensors(TensorSource& source, const TransformerConfig& model, const PieceOrder& order,
                                         const tensor::Tensor& bias) {
  tensor::NamedTensors tensors = import_pairs(source, bart_tensors(model));
  const tensor::Tensor table = source.get_shared(
      {kBartTableName, "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"},
      {model.source_vocab_size, model.d_model});
  tensors["embedding.weight"] = rows_in_order(table, order);
  tensors["output.bias"] = bias_in_order(bias, order);
  return tensors;
}

tensor::NamedTensors read_bart_tensors(TensorSource& source, const TransformerConfig& model, const PieceOrder& order,
                                       const char* family) {
  const int64_t size = model.source_vocab_size;
  const tensor::Tensor bias =
      source.has(kBartBiasName) ? source.get(kBartBiasName, {1, size}).reshape({size}) : tensor::Tensor();
  tensor::NamedTensors tensors = read_family_tensors(source, model, order, bias);
  tensors.merge(import_pairs(source, bart_positions(model)));
  source.check_all_used(family);
  return tensors;
}

}  // namespace dragoman::interop
