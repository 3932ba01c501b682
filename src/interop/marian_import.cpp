#include "interop/marian_import.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/vocabulary.h"
#include "interop/marian_tensors.h"
#include "interop/marian_vocabulary.h"
#include "interop/model_source.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"
#include "ops/embedding.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::check_data;
using tensor::Tensor;

constexpr const char* kVocabularyName = "vocab.json";
constexpr const char* kTargetVocabularyName = "target_vocab.json";
constexpr const char* kFinalBias = "final_logits_bias";

// An output bias that makes a probability zero. It is finite, as all values of a model must be.
constexpr float kNever = -1e9F;

// Embeddings and output weight in Marian's layout, [V, D].
struct Tables {
  Tensor source;
  Tensor target;
  Tensor output;
};

Tables read_tables(TensorSource& source, const MarianConfig& config) {
  const std::string shared = "model.shared.weight", head = "lm_head.weight";
  const std::string encoder = "model.encoder.embed_tokens.weight", decoder = "model.decoder.embed_tokens.weight";
  const tensor::Shape source_shape{config.model.source_vocab_size, config.model.d_model};
  const tensor::Shape target_shape{config.model.target_vocab_size, config.model.d_model};
  if (config.share_embeddings && config.tie_output) {
    const Tensor one = source.get_shared({shared, encoder, decoder, head}, source_shape);
    return {one, one, one};
  }
  // Without tie_word_embeddings transformers ties nothing: a shared table is used only if the file has no other.
  const bool has_shared = config.share_embeddings && source.has(shared);
  const Tensor fallback = has_shared ? source.get(shared, source_shape) : Tensor();
  const auto table = [&](const std::string& name, const tensor::Shape& shape) {
    return has_shared && !source.has(name) ? fallback : source.get(name, shape);
  };
  if (config.tie_output) {
    const Tensor target = source.get_shared({decoder, head}, target_shape);
    return {source.get(encoder, source_shape), target, target};
  }
  return {table(encoder, source_shape), table(decoder, target_shape), source.get(head, target_shape)};
}

// Both programs compute the positions. If a file stores positions, they must be the sinusoids.
void check_positions(TensorSource& source, const std::string& name, const models::TransformerConfig& model) {
  if (!source.has(name)) {
    return;
  }
  const Tensor seen = source.get(name, {model.max_positions, model.d_model});
  const std::vector<int64_t> rows = all_of(model.max_positions), halves = dragoman_components(model.d_model);
  const Tensor expected = gathered(ops::sinusoidal_positions(model.max_positions, model.d_model), rows, halves);
  const tensor::HostView<float> seen_values(seen), expected_values(expected);
  for (size_t i = 0; i < seen_values.size(); ++i) {
    check_data(
        std::abs(seen_values[i] - expected_values[i]) < 2e-3F,
        "{}: tensor '{}': element {} is {}, the sinusoid there is {}; dragoman imports sinusoidal positions only",
        source.file(), name, i, seen_values[i], expected_values[i]);
  }
}

// Returns the output bias for our ids. Our <s> is a second id of the token that the decoder starts with, so its
// probability must be zero.
Tensor import_bias(TensorSource& source, const MarianVocabulary& target) {
  const auto size = static_cast<int64_t>(target.marian_ids.size());
  Tensor bias = Tensor::zeros({size});
  if (source.has(kFinalBias)) {
    bias = gathered(source.get(kFinalBias, {1, size - 1}).reshape({size - 1}), target.marian_ids);
  }
  tensor::HostEdit<float>(bias).span()[data::kBosId] = kNever;
  return bias;
}

void divide(Tensor& tensor, float divisor) {
  tensor::HostEdit<float> edit(tensor);
  for (float& value : edit.span()) {
    value /= divisor;
  }
}

models::Tying tying_of(const MarianConfig& config) {
  if (!config.tie_output || !config.scale_embedding) {
    return models::Tying::kNone;
  }
  return config.share_embeddings ? models::Tying::kAll : models::Tying::kTarget;
}

struct Vocabularies {
  MarianVocabulary source;
  MarianVocabulary target;
};

tensor::NamedTensors import_tensors(TensorSource& source, const MarianConfig& config, const Vocabularies& ids) {
  const int64_t d_model = config.model.d_model;
  const std::vector<int64_t> components = marian_components(d_model);
  const Tables tables = read_tables(source, config);
  Tensor source_table = gathered(tables.source, ids.source.marian_ids, components);  // [V + 1, D]
  Tensor target_table = gathered(tables.target, ids.target.marian_ids, components);  // [V + 1, D]
  tensor::NamedTensors tensors;
  if (const models::Tying tying = tying_of(config); tying == models::Tying::kAll) {
    tensors["embedding.weight"] = target_table;
  } else {
    if (tying == models::Tying::kNone) {
      tensors["output.weight"] = gathered(tables.output, ids.target.marian_ids, components);  // [V + 1, D]
    }
    if (!config.scale_embedding) {  // dragoman always scales the embeddings
      divide(source_table, std::sqrt(static_cast<float>(d_model)));
      divide(target_table, std::sqrt(static_cast<float>(d_model)));
    }
    tensors["source_embedding.weight"] = source_table;
    tensors["target_embedding.weight"] = target_table;
  }
  tensors["output.bias"] = import_bias(source, ids.target);
  for (const TensorPair& pair : layer_tensors(config.model)) {
    const bool matrix = pair.shape.rank() == 2;
    const Tensor marians = source.get(pair.marians, matrix ? tensor::Shape{pair.shape[1], pair.shape[0]} : pair.shape);
    tensors[pair.ours] = from_marian(pair, marians, components);
  }
  check_positions(source, "model.encoder.embed_positions.weight", config.model);
  check_positions(source, "model.decoder.embed_positions.weight", config.model);
  source.check_all_used("a MarianMT model");
  return tensors;
}

Vocabularies read_vocabularies(const fs::path& folder, const MarianConfig& config) {
  const bool apart = is_there(folder / kTargetVocabularyName);
  check_data(!(apart && config.share_embeddings),
             "{}: there are two vocabularies, but share_encoder_decoder_embeddings of config.json is true",
             (folder / kTargetVocabularyName).string());
  const auto read = [&](const char* name, int64_t size) {
    return marian_vocabulary_from_json(read_json(folder, name), (folder / name).string(), size, config);
  };
  const char* const target = apart ? kTargetVocabularyName : kVocabularyName;
  return {read(kVocabularyName, config.model.source_vocab_size), read(target, config.model.target_vocab_size)};
}

}  // namespace

ImportedModel import_marian(const fs::path& folder) {
  const std::string config_text = read_json(folder, kMarianConfigName),
                    config_name = (folder / kMarianConfigName).string();
  const MarianConfig config = marian_config_from_json(config_text, config_name);
  const Vocabularies ids = read_vocabularies(folder, config);
  ImportedModel imported;
  const auto add_spm = [&](const char* name, const MarianVocabulary& vocabulary) {
    const std::string spm = base::read_file(folder / name, data::kMaxModelBytes);
    imported.files.vocabularies[name] = with_marian_ids(spm, (folder / name).string(), vocabulary, imported.notes);
  };
  add_spm(models::kSourceVocabularyName, ids.source);
  add_spm(models::kTargetVocabularyName, ids.target);
  TensorSource source(folder);
  imported.files.tensors = import_tensors(source, config, ids);
  models::TransformerConfig model = config.model;
  model.source_vocab_size = static_cast<int64_t>(ids.source.pieces.size());
  model.target_vocab_size = static_cast<int64_t>(ids.target.pieces.size());
  model.tying = tying_of(config);
  models::check_tensors(models::make_model(model)->parameters(), imported.files.tensors, source.file());
  imported.files.config = models::to_json(model);
  imported.search = read_marian_search(folder, config_text);
  return imported;
}

MarianSearch read_marian_search(const std::filesystem::path& folder, const std::string& config) {
  if (!is_there(folder / kMarianGenerationName)) {
    return marian_search_from_json(config, (folder / kMarianConfigName).string());
  }
  return marian_search_from_json(read_json(folder, kMarianGenerationName), (folder / kMarianGenerationName).string());
}

}  // namespace dragoman::interop
