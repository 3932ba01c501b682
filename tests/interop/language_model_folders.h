#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "models/decoder_only/decoder_only.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"

namespace dragoman::interop {

/// The stored folders of decoder-only models (tests/golden/make_hf_language_models.py).
inline const std::vector<std::string> kLanguageModels = {"gpt2_untied", "llama", "mistral", "qwen3"};

inline std::filesystem::path language_model_folder(const std::string& name) {
  return std::filesystem::path(DRAGOMAN_LANGUAGE_MODEL_FOLDERS) / name;
}

inline nlohmann::json json_of_file(const std::filesystem::path& path) {
  return base::parse_json(base::read_file(path), path.string());
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Returns a model of these files, packed for inference.
inline std::shared_ptr<models::DecoderOnly> language_model_of(const models::ModelFiles& files) {
  auto model =
      std::make_shared<models::DecoderOnly>(models::decoder_only_config_from_json(files.config, "config.json"));
  model->parameters().allocate();
  models::load_tensors(files.tensors, model->parameters(), "model.safetensors");
  model->parameters().pack_weights();
  return model;
}

/// Returns the logits [T, V] of a text.
inline tensor::Tensor logits_of(const models::Model& model, const std::vector<int32_t>& ids) {
  const autograd::NoGrad inference;
  return model.output().logits(model.forward({{}, models::one_sentence(ids)}, {})).value();
}

}  // namespace dragoman::interop
