#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/architectures/architecture.h"

namespace dragoman::models {

/// The architectures of this program: those of src/models/ and those that the program brings (more_architectures.h).
std::vector<Architecture> architectures();

/// Reads config.json, whatever its architecture.
/// Throws: Error(kBadData), also for an unknown architecture: "m/config.json: architecture is "x", must be one of
/// transformer".
ModelConfig config_from_json(std::string_view text, std::string_view file_name);

/// Makes a model whose parameters are declared and have no memory yet (nn::ParameterSet::allocate).
/// Throws: Error(kUsage) where the configuration breaks a rule.
std::unique_ptr<Model> make_model(const ModelConfig& config);

/// Makes a second model on the values of `model`, packed for inference: for validation while `model` trains. Its packed
/// copies are of this moment; after the next update another one is needed. Gradients are not shared.
std::shared_ptr<const Model> make_inference_model(const Model& model);

}  // namespace dragoman::models
