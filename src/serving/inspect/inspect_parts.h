#pragma once

#include <nlohmann/json.hpp>

#include "decoding/inspection/inspection.h"
#include "serving/inspect/inspect_body.h"
#include "serving/inspect/json_numbers.h"

namespace dragoman::serving {

/// The data from which the parts of a reply are made.
struct InspectContext {
  const decoding::Inspection& inspection;
  const decoding::Translator* translator;      ///< for the beam tree, which needs a search; null of other models
  const decoding::InspectionRequest& request;  ///< for the same
  const decoding::InspectionLimits& limits;
  NumberWriter& numbers;
};

/// Returns one part of the reply, which repeats its kind and place.
/// Throws: Error(kUsage) for a place that the model does not have: "inspect: encoder.layers.9.feed_forward shows no
///         hidden; ...".
[[nodiscard]] nlohmann::json inspect_part(const InspectPart& part, const InspectContext& context);

}  // namespace dragoman::serving
