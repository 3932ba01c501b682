#pragma once

#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "training/checkpoint.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Reads the tokenizers that `options` name, or learns the vocabularies of the training text as they say. What came out
/// differently than asked goes to `notes`.
data::VocabularyPair find_vocabularies(const TrainOptions& options, std::vector<std::string>& notes);

/// A warning when normalisation changes more than a tenth of the first lines of the target text, because what it
/// changes will never be written: full-width punctuation becomes ASCII. Empty when all is well.
std::string normalization_warning(const std::vector<std::filesystem::path>& target, const data::Vocabulary& vocabulary);

/// The texts of the model folder for these vocabularies and this configuration.
ModelTexts model_texts(const data::VocabularyPair& vocabularies, const models::ModelConfig& config);

/// The first line in which two recipe.json texts differ, for an error: "\"dropout\": 0.1 is now \"dropout\": 0.3".
/// A key that only one of them has: "no \"class_pooling\" is now \"class_pooling\": \"mean\"".
std::string first_difference(const std::string& before, const std::string& now);

}  // namespace dragoman::training
