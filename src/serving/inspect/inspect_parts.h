#pragma once

#include <nlohmann/json.hpp>

#include "decoding/inspection/inspection.h"
#include "serving/inspect/inspect_request.h"
#include "serving/inspect/json_numbers.h"

namespace dragoman::serving {

/// What the parts of a reply are made of.
struct InspectContext {
  const decoding::Inspection& inspection;
  const decoding::InspectionRequest& request;  ///< for the beam tree, which is searched for when it is asked for
  const decoding::InspectionLimits& limits;
  NumberWriter& numbers;
};

/// One part of the reply, its kind and place repeated in it. Throws Error(kUsage) for a place that the model has not.
nlohmann::json inspect_part(const InspectPart& part, const InspectContext& context);

/// Pieces of ids, spaces as U+2581.
nlohmann::json pieces_json(const data::Vocabulary& vocabulary, std::span<const int32_t> ids);

}  // namespace dragoman::serving
