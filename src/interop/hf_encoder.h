#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "interop/exported_model.h"
#include "interop/hf_fields.h"
#include "interop/hf_import.h"
#include "interop/hf_tensors.h"
#include "models/encoder_only/encoder_only_config.h"

namespace dragoman::interop {

/// The layouts of encoders of Hugging Face transformers, which are values of `model_type`.
enum class HfEncoderLayout { kBert, kRoberta, kDistilBert };

constexpr base::Names<HfEncoderLayout> names_of(HfEncoderLayout) {
  return {"model_type",
          {{HfEncoderLayout::kBert, "bert"},
           {HfEncoderLayout::kRoberta, "roberta"},
           {HfEncoderLayout::kDistilBert, "distilbert"}}};
}

/// What a folder of sentence-transformers lists, and where it says how rows become one vector.
inline constexpr const char* kModulesName = "modules.json";
inline constexpr const char* kPoolingFolder = "1_Pooling";

/// The names of the keys of config.json that differ between the layouts.
struct HfEncoderKeys {
  const char *width, *layers, *heads, *feed_forward, *activation, *dropout, *attention_dropout;
};
[[nodiscard]] HfEncoderKeys keys_of(HfEncoderLayout layout);

/// The checked contents of config.json of an encoder. Pooler and head are known by the tensors of the folder alone.
struct HfEncoderConfig {
  HfEncoderLayout layout = HfEncoderLayout::kBert;
  models::EncoderOnlyConfig model;
  int64_t labels = 0;                    ///< of a head for classes or tags, if the folder has one
  std::vector<std::string> label_names;  ///< of these, from id2label; empty where it does not name all of them
};

/// Reads config.json of an encoder; each key must be one that this program reads, one of a table of keys that do not
/// change the result, or null. Throws: Error(kBadData) with file, key and value, as gpt2_config_from_json.
[[nodiscard]] HfEncoderConfig encoder_config_from_json(std::string_view text, const std::string& file_name,
                                                       HfEncoderLayout layout);

/// Sets pooler, head and n_labels by the names of the tensors. A classifier on the pooled row is one of classes, and
/// one without a pooler is one of tags.
void read_head(const TensorSource& source, HfEncoderConfig& config);

/// Returns all tensors of an encoder. @param prefix  of the names of the encoder: "bert." or none
[[nodiscard]] std::vector<HfTensor> hf_encoder_tensors(const HfEncoderConfig& config, const std::string& prefix);

/// Reads the folder of a BERT, RoBERTa or DistilBERT, heads for words, classes and tags included, and what a folder of
/// sentence-transformers says of pooling (modules.json and the files it names). The tokenizer is tokenizer.json, or
/// vocab.txt of BERT. The result computes the same rows.
/// Throws: Error(kBadData), as import_gpt2.
[[nodiscard]] ImportedLanguageModel import_encoder(const std::filesystem::path& folder, HfEncoderLayout layout);

/// Returns the folder of an encoder as transformers reads it: config.json, model.safetensors, tokenizer.json and
/// tokenizer_config.json; for vectors of texts also what sentence-transformers reads. It computes the same rows, logits
/// and vectors. Sinusoidal positions become a table. A pooler that the head does not use is left out, with a note.
/// @param folder  of the model, for errors
/// Throws: Error(kBadData) for what the layout lacks, "m/config.json: norm_order is pre, BERT has post only; the model
/// cannot be exported".
[[nodiscard]] ExportedModel export_encoder(const models::ModelFiles& model, const std::filesystem::path& folder,
                                           HfEncoderLayout layout);

}  // namespace dragoman::interop
