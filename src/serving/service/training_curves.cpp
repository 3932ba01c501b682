#include "serving/service/training_curves.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "serving/inspect/json_numbers.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr size_t kMaxPoints = 400;

json point_json(const report::TrainRow& point) {
  return {{"step", point.step}, {"seconds", rounded(point.seconds)}, {"loss", rounded(point.loss)}};
}

json point_json(const report::ValidationRow& point) {
  json tree = {{"step", point.step},          {"seconds", rounded(point.seconds)},
               {"loss", rounded(point.loss)}, {"perplexity", rounded(point.perplexity)},
               {"bleu", rounded(point.bleu)}, {"chrf", rounded(point.chrf)},
               {"is_best", point.is_best}};
  if (std::isfinite(point.accuracy)) {  // of encoders alone
    tree["accuracy"] = rounded(point.accuracy);
  }
  return tree;
}

// Returns at most kMaxPoints points, evenly chosen, with the first and the last one.
template <typename Point>
json points_json(const std::vector<Point>& points) {
  json result = json::array();
  const size_t count = std::min(points.size(), kMaxPoints);
  for (size_t i = 0; i < count; ++i) {
    result.push_back(point_json(points[count < 2 ? 0 : i * (points.size() - 1) / (count - 1)]));
  }
  return result;
}

}  // namespace

nlohmann::json training_curves(const report::MetricsHistory& history) {
  return {{"train", points_json(history.train)}, {"validation", points_json(history.validation)}};
}

}  // namespace dragoman::serving
