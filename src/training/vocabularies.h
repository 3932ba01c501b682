#pragma once

#include <string>
#include <vector>

#include "data/vocabulary.h"
#include "training/checkpoint.h"
#include "training/train_options.h"

namespace dragoman::training {

/// The vocabularies of both sides; the same one twice when joint.
struct VocabularyPair {
  data::Vocabulary source;
  data::Vocabulary target;
};

/// Learns them from the training text as `options` say. What came out differently than asked goes to `notes`.
VocabularyPair learn_vocabularies(const TrainOptions& options, std::vector<std::string>& notes);

/// Reads them back from the texts of a model folder.
VocabularyPair load_vocabularies(const ModelTexts& texts);

/// The texts of the model folder for these vocabularies and this configuration.
ModelTexts model_texts(const VocabularyPair& vocabularies, const models::TransformerConfig& config);

/// The first line in which two recipe.json texts differ, for an error: "\"dropout\": 0.1 is now \"dropout\": 0.3".
std::string first_difference(const std::string& before, const std::string& now);

}  // namespace dragoman::training
