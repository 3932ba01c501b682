#include "interop/bart_export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/piece_list.h"
#include "interop/encoder_decoder_trees.h"
#include "interop/hf_encoder_decoder.h"
#include "interop/hf_languages.h"
#include "interop/marian_tensors.h"
#include "interop/requirements.h"
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

constexpr int64_t kOurFairseqBos = data::kEosId + 1;  // their <s> is the first piece behind our special ones

void check_is_bart(const TransformerConfig& config, const std::string& file, const BartLayout& layout) {
  const Requirements theirs(file, layout.program);
  theirs.require(config.norm_order == layout.norm_order, "norm_order", base::name_of(config.norm_order),
                 base::name_of(layout.norm_order).data());
  theirs.require(config.embedding_norm == layout.embedding_norm, "embedding_norm", config.embedding_norm,
                 layout.embedding_norm ? "true" : "false");
  theirs.require(config.positions == nn::PositionKind::kLearned, "positions", base::name_of(config.positions),
                 "learned");
  theirs.require(config.decoder_sublayer == nn::DecoderSublayer::kSelfAttention, "decoder_sublayer",
                 base::name_of(config.decoder_sublayer), "self-attention");
  constexpr std::array<std::string_view, 1> kFree = {"scale_embedding"};
  require_paper_layers(theirs, config.layer, kFree);
  theirs.require(config.tying == models::Tying::kAll, "tying", base::name_of(config.tying), "all");
  theirs.require(!config.scale_output, "scale_output", config.scale_output, "false");
  theirs.require(!hf_name_of(config.activation).empty(), "activation", base::name_of(config.activation),
                 "those of transformers");
  theirs.require(std::abs(config.layer_norm_epsilon - 1e-5F) < 1e-9F, "layer_norm_epsilon", config.layer_norm_epsilon,
                 "1e-5");
}

data::Vocabulary bart_vocabulary(const models::ModelFiles& model, const std::string& name, const BartLayout& layout) {
  const auto found = model.vocabularies.find(layout.vocabulary);
  check_data(found != model.vocabularies.end(),
             "{}: is missing; only a model that was imported as {}, trained further or not, can be exported as one. "
             "Try: export --to hf-marian",
             name, layout.article);
  data::Vocabulary vocabulary = data::Vocabulary::from_bytes(found->second, name);
  const std::array<std::string_view, 5> first = {"<pad>", "<unk>", layout.start, "</s>", "<s>"};
  for (int32_t id = 0; id < static_cast<int32_t>(first.size()); ++id) {
    const std::string seen = id < vocabulary.size() ? vocabulary.piece(id) : "";
    check_data(seen == first[static_cast<size_t>(id)],
               "{}: piece {} is {}, must be {}, as in an imported model; only a model that was imported as {}, trained "
               "further or not, can be exported as one. Try: export --to hf-marian",
               name, id, base::dump_json(json(seen)), first[static_cast<size_t>(id)], layout.article);
  }
  return vocabulary;
}

// An imported model has </s> twice, once with a bias that keeps it out of the softmax. Training changes both rows.
bool start_is_end(const tensor::NamedTensors& tensors) {
  const auto bias = tensors.find("output.bias");
  if (bias == tensors.end() || tensor::HostView<float>(bias->second)[data::kBosId] > kNever / 10) {
    return false;
  }
  const tensor::HostRows<float> rows(tensors.at("embedding.weight"));
  return std::ranges::equal(rows[data::kEosId], rows[data::kBosId]);
}

}  // namespace

bool BartExport::starts_with_end() const {
  return start == kFairseqSpecial.start;
}

BartExport checked_bart(const models::ModelFiles& model, const fs::path& folder, const BartLayout& layout) {
  const std::string config_name = (folder / models::kConfigName).string();
  const std::string vocabulary_name = (folder / layout.vocabulary).string();
  BartExport checked{.config = models::transformer_config_from_json(model.config, config_name),
                     .vocabulary = bart_vocabulary(model, vocabulary_name, layout),
                     .ours = {kOurFairseqBos, data::kPadId, data::kEosId, data::kUnkId},
                     .start = kFairseqSpecial.start,
                     .weights_name = (folder / models::kWeightsName).string(),
                     .vocabulary_name = vocabulary_name};
  check_is_bart(checked.config, config_name, layout);
  models::check_tensors(models::make_model(checked.config)->parameters(), model.tensors, checked.weights_name);
  check_data(checked.vocabulary.size() == checked.config.source_vocab_size,
             "{}: has {} pieces, the model has {}; use the one it was trained with", vocabulary_name,
             checked.vocabulary.size(), checked.config.source_vocab_size);
  for (int64_t id = kOurFairseqBos + 1; id < checked.config.source_vocab_size; ++id) {
    checked.ours.push_back(id);
  }
  if (!start_is_end(model.tensors)) {
    checked.start = static_cast<int64_t>(checked.ours.size());
    checked.ours.push_back(data::kBosId);
  }
  return checked;
}

tensor::NamedTensors family_tensors_of(const models::ModelFiles& model, const BartExport& checked) {
  tensor::NamedTensors tensors = export_pairs(model.tensors, bart_tensors(checked.config), checked.weights_name);
  tensors[kBartTableName] =
      gathered(model.tensors.at("embedding.weight"), checked.ours, all_of(checked.config.d_model));  // [V, D]
  return tensors;
}

tensor::NamedTensors bart_tensors_of(const models::ModelFiles& model, const BartExport& checked) {
  tensor::NamedTensors tensors = family_tensors_of(model, checked);
  tensors.merge(export_pairs(model.tensors, bart_positions(checked.config), checked.weights_name));
  const auto size = static_cast<int64_t>(checked.ours.size());
  const auto bias = model.tensors.find("output.bias");
  tensors[kBartBiasName] =
      (bias == model.tensors.end() ? tensor::Tensor::zeros({size}) : gathered(bias->second, checked.ours))
          .reshape({1, size});
  return tensors;
}

json bart_config_tree(const BartExport& checked, const BartLayout& layout) {
  json tree = encoder_decoder_tree(checked.config, hf_name_of(checked.config.activation));
  tree.update({{"architectures", {layout.class_name}},
               {"model_type", layout.type},
               {"vocab_size", checked.ours.size()},
               {"scale_embedding", checked.config.layer.scale_embedding},
               {"tie_word_embeddings", true},
               {"bos_token_id", 0},
               {"pad_token_id", kFairseqSpecial.pad},
               {"eos_token_id", kFairseqSpecial.eos},
               {"forced_eos_token_id", kFairseqSpecial.eos},
               {"decoder_start_token_id", checked.start},
               {"dtype", "float32"},
               {"torch_dtype", "float32"}});
  return tree;
}

json bart_generation_tree(const BartExport& checked, const ExportedSearch& search) {
  json never = json::array({json::array({kFairseqSpecial.pad}), json::array({kFairseqSpecial.unk})});
  if (!checked.starts_with_end()) {
    never.push_back(json::array({checked.start}));
  }
  json tree = search_tree(checked.config, search);
  tree.update({{"bad_words_ids", never},
               {"bos_token_id", 0},
               {"pad_token_id", kFairseqSpecial.pad},
               {"eos_token_id", kFairseqSpecial.eos},
               {"forced_eos_token_id", kFairseqSpecial.eos},
               {"decoder_start_token_id", checked.start}});
  return tree;
}

ExportedLanguages languages_of_pieces(const BartExport& checked, const BartLayout& layout) {
  ExportedLanguages languages;
  for (size_t id = 0; id < checked.ours.size(); ++id) {
    const std::string& piece = checked.vocabulary.piece(static_cast<int32_t>(checked.ours[id]));
    if (data::is_language_piece(piece)) {
      languages.first_id = languages.own.empty() ? static_cast<int64_t>(id) : languages.first_id;
      languages.own.push_back(data::code_of_language_piece(piece));
    }
  }
  check_data(!languages.own.empty(),
             "{}: has no pieces of languages such as >>fr<<, and {} begins each text with one; the model cannot be "
             "exported. Try: export --to hf-marian",
             checked.vocabulary_name, layout.article);
  const auto end = static_cast<size_t>(languages.first_id) + languages.own.size();
  for (auto id = static_cast<size_t>(languages.first_id); id < checked.ours.size(); ++id) {
    const std::string& piece = checked.vocabulary.piece(static_cast<int32_t>(checked.ours[id]));
    const bool has_place = id < end ? data::is_language_piece(piece)
                                    : piece.starts_with(kNoPieceBegin) || checked.ours[id] == data::kBosId;
    check_data(has_place, "{}: piece {} stands among or behind the languages; {} has none there",
               checked.vocabulary_name, base::dump_json(json(piece)), layout.article);
  }
  return languages;
}

}  // namespace dragoman::interop
