#pragma once

#include <vector>

#include "models/model.h"
#include "report/svg_heat_map.h"
#include "training/validator.h"

namespace dragoman::training {

/// Heat maps of the first validation sentence with its reference as target, for the report: the last layer's encoder
/// self-attention and cross-attention, averaged over heads.
std::vector<report::HeatMap> attention_maps(const models::Model& model, const Validator& validator);

}  // namespace dragoman::training
