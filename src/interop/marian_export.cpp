#include "interop/marian_export.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/vocabulary.h"
#include "interop/encoder_decoder_trees.h"
#include "interop/marian_config.h"
#include "interop/marian_export_vocabulary.h"
#include "interop/marian_tensors.h"
#include "interop/requirements.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using models::Tying;
using nlohmann::json;
using tensor::Tensor;

struct Sides {
  ExportedVocabulary source;
  ExportedVocabulary target;
  bool joint = true;  // both sides have one list of pieces
};

void check_representable(const models::TransformerConfig& config, const std::string& file) {
  const Requirements marian(file, "MarianMT");
  marian.require(config.norm_order == nn::NormOrder::kPost, "norm_order", models::name_of(config.norm_order), "post");
  marian.require(config.decoder_sublayer == nn::DecoderSublayer::kSelfAttention, "decoder_sublayer",
                 models::name_of(config.decoder_sublayer), "self-attention");
  require_paper_layers(marian, config.layer);
  marian.require(!config.embedding_norm, "embedding_norm", config.embedding_norm, "false");
  marian.require(!config.scale_output, "scale_output", config.scale_output, "false");
  marian.require(config.tying != Tying::kEmbeddings, "tying", models::name_of(config.tying), "none, target and all");
  marian.require(config.positions == nn::PositionKind::kSinusoidal, "positions", models::name_of(config.positions),
                 "sinusoidal");
  marian.require(marian_has(config.activation), "activation", models::name_of(config.activation),
                 "relu, gelu and silu");
  marian.require(std::abs(config.layer_norm_epsilon - 1e-5F) < 1e-9F, "layer_norm_epsilon", config.layer_norm_epsilon,
                 "1e-5");
}

const Tensor& source_table(const tensor::NamedTensors& tensors, Tying tying) {
  return tensors.at(tying == Tying::kAll ? "embedding.weight" : "source_embedding.weight");
}

const Tensor& target_table(const tensor::NamedTensors& tensors, Tying tying) {
  return tensors.at(tying == Tying::kAll ? "embedding.weight" : "target_embedding.weight");
}

// An imported model has Marian's <pad> twice, once with a bias that keeps it out of the softmax.
bool pad_is_start(const tensor::NamedTensors& tensors, Tying tying) {
  const auto bias = tensors.find("output.bias");
  if (bias == tensors.end() || tensor::HostView<float>(bias->second)[data::kBosId] > -1e8F) {
    return false;
  }
  const auto same_row = [](const Tensor& table) {
    const Tensor pad = table.rows(data::kPadId, data::kPadId + 1), bos = table.rows(data::kBosId, data::kBosId + 1);
    return std::ranges::equal(tensor::HostView<float>(pad).span(), tensor::HostView<float>(bos).span());
  };
  return same_row(source_table(tensors, tying)) && same_row(target_table(tensors, tying));
}

Sides export_sides(const models::ModelFiles& model, const fs::path& folder, Tying tying) {
  const auto spm = [&](const char* name) -> const std::string& {
    const auto& files = model.vocabularies;
    const auto found = files.contains(name) ? files.find(name) : files.find(models::kJointVocabularyName);
    base::check_data(found != files.end(), "{}: has neither {} nor {}; is this the folder of a dragoman model?",
                     folder.string(), models::kJointVocabularyName, name);
    return found->second;
  };
  const auto export_side = [&](const char* name, PadPlace pad) {
    return export_vocabulary(spm(name), (folder / name).string(), pad, pad_is_start(model.tensors, tying));
  };
  Sides sides{export_side(models::kSourceVocabularyName, PadPlace::kLast),
              export_side(models::kTargetVocabularyName, PadPlace::kLast)};
  sides.joint = sides.source.pieces == sides.target.pieces;
  if (!sides.joint) {
    base::check_data(tying != Tying::kAll, "{}: tying is \"all\", but the vocabularies differ", folder.string());
    sides.source = export_side(models::kSourceVocabularyName, PadPlace::kThird);
    sides.target = export_side(models::kTargetVocabularyName, PadPlace::kThird);
  }
  return sides;
}

void check_size(const ExportedVocabulary& side, int64_t pieces, bool merged, const std::string& config_name) {
  const auto seen = static_cast<int64_t>(side.ours.size()) + (merged ? 1 : 0);
  base::check_data(seen == pieces,
                   "{}: is of a model with {} pieces, the vocabulary has {}; use the one it was "
                   "trained with",
                   config_name, pieces, seen);
}

int64_t pad_id_of(const Sides& sides) {
  return sides.joint ? static_cast<int64_t>(sides.source.pieces.size()) - 1 : 2;
}

tensor::NamedTensors export_tensors(const tensor::NamedTensors& ours, const models::TransformerConfig& config,
                                    const Sides& sides) {
  const std::vector<int64_t> components = dragoman_components(config.d_model);
  tensor::NamedTensors tensors;
  const Tensor target = gathered(target_table(ours, config.tying), sides.target.ours, components);  // [V, D]
  if (config.tying == Tying::kAll) {
    tensors["model.shared.weight"] = target;
  } else {
    tensors["model.encoder.embed_tokens.weight"] =
        gathered(source_table(ours, config.tying), sides.source.ours, components);  // [V, D]
    tensors["model.decoder.embed_tokens.weight"] = target;
  }
  if (config.tying == Tying::kNone) {
    tensors["lm_head.weight"] = gathered(ours.at("output.weight"), sides.target.ours, components);  // [V, D]
  }
  const auto n_target = static_cast<int64_t>(sides.target.ours.size());
  Tensor bias = Tensor::zeros({n_target});
  if (config.output_bias) {
    bias = gathered(ours.at("output.bias"), sides.target.ours);
    if (pad_is_start(ours, config.tying)) {
      const tensor::HostView<float> ours_bias(ours.at("output.bias"));
      tensor::HostEdit<float>(bias).span()[static_cast<size_t>(pad_id_of(sides))] = ours_bias[data::kPadId];
    }
  }
  tensors["final_logits_bias"] = bias.reshape({1, n_target});
  for (const TensorPair& pair : layer_tensors(config)) {
    tensors[pair.marians] = to_marian(pair, ours.at(pair.ours), components);
  }
  return tensors;
}

std::string config_json(const models::TransformerConfig& config, const Sides& sides) {
  json tree = encoder_decoder_tree(config, marian_name_of(config.activation));
  tree.update({{"architectures", {"MarianMTModel"}},
               {"model_type", "marian"},
               {"vocab_size", sides.source.pieces.size()},
               {"decoder_vocab_size", sides.target.pieces.size()},
               {"scale_embedding", true},
               {"static_position_embeddings", true},
               {"normalize_before", false},
               {"normalize_embedding", false},
               {"add_final_layer_norm", false},
               {"share_encoder_decoder_embeddings", config.tying == Tying::kAll},
               {"tie_word_embeddings", config.tying != Tying::kNone},
               {"eos_token_id", 0},
               {"pad_token_id", pad_id_of(sides)},
               {"decoder_start_token_id", pad_id_of(sides)},
               {"forced_eos_token_id", 0}});
  return base::dump_json(tree, 2) + "\n";
}

std::string generation_json(const models::TransformerConfig& config, const Sides& sides,
                            const MarianExportOptions& options) {
  json never = json::array();
  for (const int64_t id : sides.target.never_written) {
    never.push_back({id});
  }
  json tree = search_tree(config, options.search);
  tree.update({{"bad_words_ids", never},
               {"eos_token_id", 0},
               {"forced_eos_token_id", 0},
               {"pad_token_id", pad_id_of(sides)},
               {"decoder_start_token_id", pad_id_of(sides)}});
  return base::dump_json(tree, 2) + "\n";
}

std::string tokenizer_json(const models::TransformerConfig& config, const Sides& sides,
                           const MarianExportOptions& options) {
  const json tree = {{"tokenizer_class", "MarianTokenizer"},
                     {"source_lang", options.source_language},
                     {"target_lang", options.target_language},
                     {"separate_vocabs", !sides.joint},
                     {"model_max_length", config.max_positions},
                     {"clean_up_tokenization_spaces", false},
                     {"eos_token", "</s>"},
                     {"unk_token", "<unk>"},
                     {"pad_token", "<pad>"}};
  return base::dump_json(tree, 2) + "\n";
}

}  // namespace

ExportedModel export_marian(const models::ModelFiles& model, const fs::path& folder,
                            const MarianExportOptions& options) {
  const std::string config_name = (folder / models::kConfigName).string();
  const models::TransformerConfig config = models::transformer_config_from_json(model.config, config_name);
  check_representable(config, config_name);
  models::check_tensors(models::make_model(config)->parameters(), model.tensors,
                        (folder / models::kWeightsName).string());
  const Sides sides = export_sides(model, folder, config.tying);
  const bool merged = pad_is_start(model.tensors, config.tying);
  check_size(sides.source, config.source_vocab_size, merged, config_name);
  check_size(sides.target, config.target_vocab_size, merged, config_name);
  ExportedModel exported;
  exported.tensors = export_tensors(model.tensors, config, sides);
  exported.texts = {{kMarianConfigName, config_json(config, sides)},
                    {kMarianGenerationName, generation_json(config, sides, options)},
                    {"tokenizer_config.json", tokenizer_json(config, sides, options)},
                    {"vocab.json", vocabulary_json(sides.source)},
                    {"source.spm", sides.source.spm},
                    {"target.spm", sides.target.spm}};
  if (!sides.joint) {
    exported.texts["target_vocab.json"] = vocabulary_json(sides.target);
  }
  add_search_note(options.search, exported);
  return exported;
}

}  // namespace dragoman::interop
