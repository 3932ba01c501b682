#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace dragoman::study {

/// Returns what a trained model was made with, by name: the values of its config.json and of the recipe.json of its
/// newest checkpoint, as text. Seeds, paths and the sizes of vocabularies, which are no choices, are left out. A model
/// without checkpoints has those of config.json alone.
/// Throws: Error(kBadData) for damaged files, "model/config.json: must be a JSON object".
std::map<std::string, std::string> settings_of(const std::filesystem::path& model);

}  // namespace dragoman::study
