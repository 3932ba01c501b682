#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "data/labels.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "interop/hf_encoder.h"
#include "interop/hf_tokenizer.h"
#include "interop/model_source.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::check_data;
using data::Vocabulary;
using nlohmann::json;

constexpr const char* kVocabTxtName = "vocab.txt";

// What tokenizer_config.json says of the text before it is cut; cased models have names with "cased" and say false.
data::BertCleaning cleaning_of(const fs::path& folder) {
  data::BertCleaning cleaning;
  if (is_there(folder / kHfTokenizerConfigName)) {
    const std::string name = (folder / kHfTokenizerConfigName).string();
    const json tree = base::parse_json(read_json(folder, kHfTokenizerConfigName), name);
    const base::JsonFields fields(tree, name);
    cleaning.lower_cases = fields.flag("do_lower_case", true);
    cleaning.spaces_chinese = fields.flag("tokenize_chinese_chars", true);
    cleaning.strips_accents = fields.flag("strip_accents", cleaning.lower_cases);
  }
  return cleaning;
}

Vocabulary read_tokenizer(const fs::path& folder, const HfEncoderConfig& config) {
  if (is_there(folder / kHfTokenizerName)) {
    return Vocabulary::from_file(folder / kHfTokenizerName);
  }
  check_data(config.layout != HfEncoderLayout::kRoberta && is_there(folder / kVocabTxtName),
             "{}: is missing. Load the tokenizer with AutoTokenizer of transformers and save it with save_pretrained, "
             "which writes the file",
             (folder / kHfTokenizerName).string());
  try {
    return data::from_vocab_txt(base::read_file(folder / kVocabTxtName, data::kMaxModelBytes), cleaning_of(folder));
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}: {}", folder.string(), error.what());
  }
}

models::Pooling pooling_of(const fs::path& folder, const std::string& module) {
  const fs::path file = fs::path(module) / "config.json";
  const std::string name = (folder / file).string();
  const json tree = base::parse_json(read_json(folder / module, "config.json"), name);
  const base::JsonFields fields(tree, name);
  const std::string newer = fields.text("pooling_mode", "");
  const bool is_first = fields.flag("pooling_mode_cls_token", newer == "cls");
  const bool is_mean = fields.flag("pooling_mode_mean_tokens", newer == "mean");
  bool is_other = is_first == is_mean;
  for (const char* key : {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                          "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"}) {
    is_other = is_other || fields.flag(key, false);
  }
  check_data(!is_other, "{}: the pooling is neither the mean of the tokens nor the first token, which dragoman has",
             name);
  return is_first ? models::Pooling::kFirst : models::Pooling::kMean;
}

// The names of folders stand in the file, and none of them leaves `folder`.
void check_module_path(const std::string& path, const std::string& name) {
  const bool is_plain = path.find('/') == std::string::npos && path.find('\\') == std::string::npos && path != "..";
  check_data(is_plain, "{}: path is \"{}\", must be the name of a folder beside the file", name, path);
}

// A folder of sentence-transformers lists what it does one after the other.
void read_modules(const fs::path& folder, models::EncoderOnlyConfig& model) {
  const std::string name = (folder / kModulesName).string();
  const json tree = base::parse_json(read_json(folder, kModulesName), name);
  check_data(tree.is_array(), "{}: must be a list", name);
  for (const json& module : tree) {
    const base::JsonFields fields(module, name);
    const std::string type = fields.text("type", ""), path = fields.text("path", "");
    check_module_path(path, name);
    if (type.ends_with(".Pooling")) {
      model.pooling = pooling_of(folder, path);
    } else if (type.ends_with(".Normalize")) {
      model.unit_length = true;
    } else {
      check_data(type.ends_with(".Transformer"), "{}: type is \"{}\"; dragoman has Transformer, Pooling and Normalize",
                 name, type);
      check_data(path.empty(), "{}: the Transformer is in \"{}\"; import that folder", name, path);
    }
  }
}

// Buffers, and the head of a task that is not read: whether a sentence follows another.
void skip_unused(TensorSource& source, const std::string& prefix) {
  source.skip(prefix + "embeddings.position_ids");
  source.skip("cls.seq_relationship.weight");
  source.skip("cls.seq_relationship.bias");
}

// Names that are no labels, such as two that are equal, give way to numbers.
data::Labels labels_of_head(const HfEncoderConfig& config) try {
  return config.label_names.empty() ? data::numbered_labels(config.model.n_labels) : data::Labels(config.label_names);
} catch (const base::Error&) {
  return data::numbered_labels(config.model.n_labels);
}

}  // namespace

ImportedLanguageModel import_encoder(const fs::path& folder, HfEncoderLayout layout) {
  HfEncoderConfig config =
      encoder_config_from_json(read_json(folder, kHfConfigName), (folder / kHfConfigName).string(), layout);
  if (is_there(folder / kModulesName)) {
    read_modules(folder, config.model);
  }
  ImportedLanguageModel imported;
  const Vocabulary vocabulary = read_tokenizer(folder, config);
  check_hf_tokenizer(vocabulary, folder, config.model.vocab_size);
  imported.files.vocabularies[models::kTokenizerName] = vocabulary.bytes();
  TensorSource source(folder);
  read_head(source, config);
  const std::string named = std::string(base::name_of(layout)) + ".";
  const std::string prefix = source.has(named + "embeddings.word_embeddings.weight") ? named : "";
  skip_unused(source, prefix);
  imported.files.tensors = import_pairs(source, hf_encoder_tensors(config, prefix));
  source.check_all_used("an encoder");
  const models::ModelConfig model = config.model;
  models::check_tensors(models::make_model(model)->parameters(), imported.files.tensors, source.file());
  imported.files.config = models::to_json(model);
  if (config.model.n_labels > 0) {
    imported.files.labels = labels_of_head(config).to_json();
  }
  return imported;
}

}  // namespace dragoman::interop
