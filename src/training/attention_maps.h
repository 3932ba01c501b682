#pragma once

#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "models/model.h"
#include "report/svg_heat_map.h"

namespace dragoman::training {

/// Returns heat maps of a sentence with its reference as target, for the report: encoder self-attention and
/// cross-attention of the last layer, averaged over heads. None for a sentence of more than 60 pieces.
std::vector<report::HeatMap> attention_maps(const models::Model& model, const data::VocabularyPair& vocabularies,
                                            const std::string& source, const std::string& reference);

}  // namespace dragoman::training
