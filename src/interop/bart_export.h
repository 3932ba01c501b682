#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "interop/exported_model.h"
#include "models/model_folder.h"
#include "models/transformer/transformer_config.h"

namespace dragoman::interop {

// What the exporters of BART, mBART-50 and M2M-100 share: config.json and tensors have the names of BART.

/// One layout of the family.
struct BartLayout {
  const char* program;     ///< for errors: "BART"
  const char* article;     ///< "a BART"
  const char* type;        ///< model_type
  const char* class_name;  ///< of transformers
  nn::NormOrder norm_order;
  bool embedding_norm;
  const char* vocabulary;  ///< file of the model folder
  const char* start;       ///< name of our <s> in it
};

/// A checked model of the family, and its pieces in a folder of transformers.
struct BartExport {
  models::TransformerConfig config;
  data::Vocabulary vocabulary;
  std::vector<int64_t> ours;      ///< our id of each of theirs
  int64_t start = 0;              ///< their id with which the decoder begins: </s>, or the last one
  std::string weights_name = {};  ///< files, for errors
  std::string vocabulary_name = {};

  /// Returns whether our <s> is a second id of </s>.
  [[nodiscard]] bool starts_with_end() const;
};

/// Checks that a model is of this layout and has the vocabulary of an imported one. @param folder  of the model, for
/// errors. Throws: Error(kBadData), as export_bart.
[[nodiscard]] BartExport checked_bart(const models::ModelFiles& model, const std::filesystem::path& folder,
                                      const BartLayout& layout);

/// Returns the tensors of layers and norms and the table of words; of a BART or mBART also positions and output bias.
[[nodiscard]] tensor::NamedTensors family_tensors_of(const models::ModelFiles& model, const BartExport& checked);
[[nodiscard]] tensor::NamedTensors bart_tensors_of(const models::ModelFiles& model, const BartExport& checked);

/// Returns the tree of config.json, without the keys that one layout alone has.
[[nodiscard]] nlohmann::json bart_config_tree(const BartExport& checked, const BartLayout& layout);

/// Returns the tree of generation_config.json.
[[nodiscard]] nlohmann::json bart_generation_tree(const BartExport& checked, const ExportedSearch& search);

/// The languages of a vocabulary.
struct ExportedLanguages {
  std::vector<std::string> own;  ///< codes of the model, in the order of their ids
  int64_t first_id = 0;          ///< their id of the first
};

/// Returns the languages of a model. Throws: Error(kBadData) if the vocabulary has none, "m/vocabulary.spm: has no
/// pieces of languages such as >>fr<<, and an mBART-50 begins each text with one; ...", or other pieces behind them.
[[nodiscard]] ExportedLanguages languages_of_pieces(const BartExport& checked, const BartLayout& layout);

}  // namespace dragoman::interop
