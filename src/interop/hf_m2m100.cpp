#include "interop/hf_m2m100.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "interop/hf_fields.h"
#include "interop/hf_tensors.h"
#include "interop/marian_tensors.h"
#include "interop/model_source.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::check_data;
using models::TransformerConfig;
using nlohmann::json;
using tensor::Tensor;

constexpr const char* kSpmName = "sentencepiece.bpe.model";
constexpr const char* kPiecesName = "vocab.json";  // of M2M-100
constexpr const char* kTokensName = "special_tokens_map.json";
constexpr SpecialPieces kM2m100Special{.pad = 1, .unk = 3, .start = 2, .eos = 2};

void read_m2m100_sizes(HfFields& fields, TransformerConfig& model) {
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
}

void check_id(HfFields& fields, const char* key, int64_t id) {
  const int64_t seen = fields.integer(key, 0, kMaxVocabulary, id);
  check_data(seen == id, "{}: {} is {}, that of an M2M-100 is {}", fields.file(), key, seen, id);
}

// Positions as fairseq computes them: sines, then cosines, from the third on; the first two belong to no position.
Tensor fairseq_positions(int64_t positions, int64_t d_model) {
  constexpr int64_t kFirst = 2;
  const int64_t half = d_model / 2;
  Tensor table = Tensor::zeros({positions, d_model});
  tensor::HostEdit<float> edit(table);
  const double step = std::log(10'000.0) / static_cast<double>(half - 1);
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const auto frequency = static_cast<float>(std::exp(-step * static_cast<double>(i)));
      const float angle = static_cast<float>(position + kFirst) * frequency;
      edit.span()[static_cast<size_t>(position * d_model + i)] = std::sin(angle);
      edit.span()[static_cast<size_t>(position * d_model + half + i)] = std::cos(angle);
    }
  }
  return table;
}

// The languages in the order of their ids.
std::vector<std::string> read_languages(const fs::path& folder) {
  for (const char* file : {kHfTokenizerConfigName, kTokensName}) {
    if (!is_there(folder / file)) {
      continue;
    }
    const std::string name = (folder / file).string();
    const json tree = base::parse_json(read_json(folder, file), name);
    const base::JsonFields fields(tree, name);
    if (!fields.has("additional_special_tokens")) {
      continue;
    }
    std::vector<std::string> languages;
    for (const json& token : fields.list("additional_special_tokens")) {
      check_data(token.is_string(), "{}: additional_special_tokens must be a list of texts", name);
      languages.push_back(token.get<std::string>());
    }
    return languages;
  }
  base::fail(base::ErrorKind::kBadData,
             "{}: neither {} nor {} has additional_special_tokens, which are the languages of the model",
             folder.string(), kHfTokenizerConfigName, kTokensName);
}

// >>fr<< for __fr__, >>fra_Latn<< for fra_Latn.
std::string piece_of_language(std::string_view token) {
  const bool has_bars = token.size() > 4 && token.starts_with("__") && token.ends_with("__");
  return fmt::format(">>{}<<", has_bars ? token.substr(2, token.size() - 4) : token);
}

// The pieces of vocab.json by id, without gaps.
std::vector<std::string> listed_pieces(const fs::path& folder) {
  const std::string name = (folder / kPiecesName).string();
  const json tree = base::parse_json(read_json(folder, kPiecesName), name);
  check_data(tree.is_object() && !tree.empty(), "{}: must be a JSON object of pieces and ids", name);
  std::vector<std::string> pieces(tree.size());
  for (const auto& [piece, id] : tree.items()) {
    check_data(id.is_number_integer() && id >= json(0) && id < json(tree.size()) && pieces[id.get<size_t>()].empty(),
               "{}: the id of '{}' must be an integer from 0 to {} that no other piece has", name, piece,
               tree.size() - 1);
    pieces[id.get<size_t>()] = piece;
  }
  return pieces;
}

// Without a list, SentencePiece's own, one later: <s>, <pad>, </s>, <unk> come first.
std::vector<std::string> shifted_pieces(const std::vector<SpmPiece>& spm) {
  constexpr size_t kOwnSpecial = 3;
  std::vector<std::string> pieces = {"<s>", "<pad>", "</s>", "<unk>"};
  for (size_t id = kOwnSpecial; id < spm.size(); ++id) {
    pieces.push_back(spm[id].text);
  }
  return pieces;
}

PieceOrder read_m2m100_pieces(const fs::path& folder, const std::string& spm, int64_t vocab_size) {
  const std::string file = (folder / kSpmName).string();
  std::vector<std::string> pieces =
      is_there(folder / kPiecesName) ? listed_pieces(folder) : shifted_pieces(spm_pieces(spm, file));
  for (const std::string& token : read_languages(folder)) {
    pieces.push_back(piece_of_language(token));
  }
  check_data(static_cast<int64_t>(pieces.size()) <= vocab_size,
             "{}: {} pieces and languages, config.json has a vocab_size of {}; the files are of different models", file,
             pieces.size(), vocab_size);
  const std::vector<std::string> special = {"<s>", "<pad>", "</s>", "<unk>"};
  for (size_t id = 0; id < special.size(); ++id) {
    check_data(id < pieces.size() && pieces[id] == special[id], "{}: id {} is not {}, as in an M2M-100", file, id,
               special[id]);
  }
  while (static_cast<int64_t>(pieces.size()) < vocab_size) {
    pieces.push_back(fmt::format("<no_piece_{}>", pieces.size()));
  }
  return order_pieces(pieces, kM2m100Special);
}

std::vector<HfTensor> m2m100_tensors(const TransformerConfig& model) {
  std::vector<HfTensor> tensors;
  for (const TensorPair& pair : layer_tensors(model)) {
    tensors.push_back(
        {.ours = pair.ours, .theirs = pair.marians, .shape = pair.shape, .transposed = pair.shape.rank() == 2});
  }
  for (const std::string stack : {"encoder", "decoder"}) {
    tensors.push_back(
        {.ours = stack + ".norm.gain", .theirs = "model." + stack + ".layer_norm.weight", .shape = {model.d_model}});
    tensors.push_back(
        {.ours = stack + ".norm.bias", .theirs = "model." + stack + ".layer_norm.bias", .shape = {model.d_model}});
  }
  return tensors;
}

tensor::NamedTensors read_m2m100_tensors(TensorSource& source, const TransformerConfig& model,
                                         const PieceOrder& order) {
  tensor::NamedTensors tensors = import_pairs(source, m2m100_tensors(model));
  const Tensor table = source.get_shared({"model.shared.weight", "model.encoder.embed_tokens.weight",
                                          "model.decoder.embed_tokens.weight", "lm_head.weight"},
                                         {model.source_vocab_size, model.d_model});
  tensors["embedding.weight"] = rows_in_order(table, order);
  tensors["output.bias"] = bias_in_order({}, order);
  for (const std::string stack : {"encoder", "decoder"}) {
    source.skip("model." + stack + ".embed_positions.weights");  // of older files, computed here
    tensors[stack + ".embedding.positions"] = fairseq_positions(model.max_positions, model.d_model);
  }
  source.check_all_used("an M2M-100");
  return tensors;
}

}  // namespace

TransformerConfig m2m100_config_from_json(std::string_view text, const std::string& file_name) {
  const json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  const std::string type = fields.text("model_type", "");
  check_data(type == "m2m_100", "{}: model_type is \"{}\", must be m2m_100", file_name, type);
  TransformerConfig model;
  read_m2m100_sizes(fields, model);
  model.activation = read_activation(fields, "activation_function", "relu");
  model.layer.scale_embedding = fields.flag("scale_embedding", true);
  model.norm_order = nn::NormOrder::kPre;
  model.positions = nn::PositionKind::kLearned;
  model.output_bias = true;  // for our <s> alone, a second id of the first input of the decoder
  check_id(fields, "pad_token_id", kM2m100Special.pad);
  check_id(fields, "eos_token_id", kM2m100Special.eos);
  check_id(fields, "decoder_start_token_id", kM2m100Special.start);
  check_id(fields, "bos_token_id", 0);
  fields.must_be("is_encoder_decoder", true);
  fields.must_be("tie_word_embeddings", true);
  for (const char* key : {"encoder_layerdrop", "decoder_layerdrop", "init_std", "num_hidden_layers", "tokenizer_class",
                          "forced_eos_token_id"}) {
    static_cast<void>(fields.has(key));  // of training and of searches
  }
  fields.refuse_unknown();
  try {
    model.check();
  } catch (const base::Error& error) {
    base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
  }
  return model;
}

ImportedModel import_m2m100(const fs::path& folder) {
  const std::string config_text = read_json(folder, kHfConfigName), config_name = (folder / kHfConfigName).string();
  TransformerConfig model = m2m100_config_from_json(config_text, config_name);
  const std::string spm_name = (folder / kSpmName).string();
  const std::string spm = base::read_file(folder / kSpmName, data::kMaxModelBytes);
  data::check_sentencepiece_model(spm, spm_name);
  const PieceOrder order = read_m2m100_pieces(folder, spm, model.source_vocab_size);
  ImportedModel imported;
  imported.files.vocabularies[models::kJointVocabularyName] = with_order(spm, order, spm_name);
  TensorSource source(folder);
  imported.files.tensors = read_m2m100_tensors(source, model, order);
  model.source_vocab_size = model.target_vocab_size = static_cast<int64_t>(order.pieces.size());
  models::check_tensors(models::make_model(model)->parameters(), imported.files.tensors, source.file());
  imported.files.config = models::to_json(model);
  imported.search = read_marian_search(folder, config_text);
  return imported;
}

}  // namespace dragoman::interop
