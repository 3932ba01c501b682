#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "interop/hf_fields.h"
#include "interop/hf_tensors.h"
#include "interop/marian_import.h"
#include "interop/piece_order.h"

namespace dragoman::interop {

// What the importers of encoder-decoder models of transformers share. BART, mBART and M2M-100 are one family: their
// config.json and their tensors have the names of BART.

/// An encoder-decoder model as an importer read it.
struct HfEncoderDecoder {
  std::filesystem::path folder;
  std::string config_text;               ///< of config.json, which may say how to search
  models::TransformerConfig model = {};  ///< all but the sizes of the vocabulary
  PieceOrder order = {};
  models::VocabularyFiles vocabularies = {};
  tensor::NamedTensors tensors = {};
  std::string weights_file = {};  ///< for errors
  std::string languages = {};     ///< text of languages.json
};

/// Completes a model: sets the sizes of its vocabulary and reads the search that the folder asks for.
/// Throws: Error(kBadData) if the tensors are not those of the model.
[[nodiscard]] ImportedModel completed(HfEncoderDecoder read);

/// Returns the bytes of a SentencePiece model. Throws: as data::check_sentencepiece_model.
[[nodiscard]] std::string read_spm(const std::filesystem::path& file);

/// Returns the id of the token that everything written begins with: forced_bos_token_id of generation_config.json or
/// else config.json. Throws: Error(kBadData) if it is no integer.
[[nodiscard]] std::optional<int64_t> forced_token(const std::filesystem::path& folder);

/// What a config.json of the family means if it does not say.
struct BartDefaults {
  const char* activation = "gelu";
  bool scale_embedding = false;
};

/// Reads sizes, heads, dropouts, activation and scale_embedding of a model of the family of BART, and skips keys of
/// training and of searches.
void read_bart_sizes(HfFields& fields, models::TransformerConfig& model, const BartDefaults& defaults = {});

/// Returns the special tokens, which must be those of fairseq (kFairseqSpecial). A missing key has its id. The decoder
/// may begin with the last piece in place of </s>: so `export` writes a model that was trained further.
/// @param family  for errors: "an M2M-100"
[[nodiscard]] SpecialPieces read_fairseq_ids(HfFields& fields, int64_t vocab_size, const char* family);

/// Refuses keys that were not read, and a configuration that is none.
void check_bart_config(const HfFields& fields, const models::TransformerConfig& model);

/// The checked contents of config.json of a model of the family. The sizes of the vocabulary are theirs.
struct BartConfig {
  models::TransformerConfig model = {};
  SpecialPieces special = {};
};

/// Returns the learned positions of both sides. The first rows of a table of theirs belong to no position.
[[nodiscard]] std::vector<HfTensor> bart_positions(const models::TransformerConfig& model);

/// The tensors that are no layers: of the table of words, and [1, V] of the output bias of a BART or mBART.
inline constexpr const char* kBartTableName = "model.shared.weight";
inline constexpr const char* kBartBiasName = "final_logits_bias";

/// Returns the tensors of all layers and norms of a model of the family of BART; no tables.
[[nodiscard]] std::vector<HfTensor> bart_tensors(const models::TransformerConfig& model);

/// Returns these tensors, the embedding table and the output bias, for our ids. @param bias  [V] of the folder;
/// undefined for zeros
[[nodiscard]] tensor::NamedTensors read_family_tensors(TensorSource& source, const models::TransformerConfig& model,
                                                       const PieceOrder& order, const tensor::Tensor& bias);

/// Returns all tensors of a BART or mBART: these, learned positions, and the bias final_logits_bias if there is one.
/// Throws: Error(kBadData) also for a tensor that `family` ("a BART") does not have.
[[nodiscard]] tensor::NamedTensors read_bart_tensors(TensorSource& source, const models::TransformerConfig& model,
                                                     const PieceOrder& order, const char* family);

}  // namespace dragoman::interop
