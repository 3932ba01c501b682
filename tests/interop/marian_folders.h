#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "data/vocabulary/vocabulary.h"
#include "interop/marian_import.h"
#include "interop/marian_vocabulary.h"
#include "models/model_tensors.h"
#include "models/transformer/transformer.h"

namespace dragoman::interop {

/// The stored MarianMT folders (tests/golden/make_hf_marian.py).
inline const std::vector<std::string> kStoredFolders = {"bpe_apart", "gelu_untied", "relu_separate", "swish_shared"};

inline std::filesystem::path stored_folder(const std::string& name) {
  return std::filesystem::path(DRAGOMAN_MARIAN_FOLDERS) / name;
}

inline nlohmann::json json_of(const std::filesystem::path& path) {
  return base::parse_json(base::read_file(path), path.string());
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Returns a model of these files, packed as by load_translator.
inline std::shared_ptr<models::Transformer> model_of(const models::ModelFiles& files) {
  auto model = std::make_shared<models::Transformer>(models::transformer_config_from_json(files.config, "config.json"));
  model->parameters().allocate();
  models::load_tensors(files.tensors, model->parameters(), "model.safetensors");
  model->parameters().pack_weights();
  return model;
}

/// Returns Marian's id of each of our ids, for one side of a folder.
inline std::vector<int64_t> marian_ids(const std::filesystem::path& folder, const char* side) {
  const MarianConfig config = marian_config_from_json(base::read_file(folder / "config.json"), "config.json");
  const bool target = std::string(side) == "target";
  const bool apart = std::filesystem::exists(folder / "target_vocab.json");
  const std::string name = target && apart ? "target_vocab.json" : "vocab.json";
  const int64_t size = target ? config.model.target_vocab_size : config.model.source_vocab_size;
  return marian_vocabulary_from_json(base::read_file(folder / name), name, size, config).marian_ids;
}

inline std::vector<int64_t> mapped(const std::vector<int32_t>& ours, const std::vector<int64_t>& ids) {
  std::vector<int64_t> marians;
  for (const int32_t id : ours) {
    marians.push_back(ids.at(static_cast<size_t>(id)));
  }
  return marians;
}

/// Returns our id of each of Marian's ids.
inline std::vector<int32_t> our_ids(const std::vector<int64_t>& marian_ids) {
  std::vector<int32_t> ours(marian_ids.size() - 1);
  for (size_t id = 0; id < marian_ids.size(); ++id) {
    if (id != data::kBosId) {
      ours.at(static_cast<size_t>(marian_ids[id])) = static_cast<int32_t>(id);
    }
  }
  return ours;
}

}  // namespace dragoman::interop
