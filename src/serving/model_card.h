#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decoding/translator.h"

namespace dragoman::serving {

/// A measurement of the loss while a model was trained. What is NaN was not measured.
struct TrainingPoint {
  int64_t step = 0;
  double seconds = 0.0;  ///< of training so far
  double loss = 0.0;     ///< nats per target token, with label smoothing
};

/// A validation while a model was trained.
struct ValidationPoint {
  int64_t step = 0;
  double seconds = 0.0;
  double loss = 0.0;        ///< nats per target token, without label smoothing
  double perplexity = 0.0;  ///< exp(loss)
  double bleu = 0.0;        ///< 0 to 100
  double chrf = 0.0;        ///< 0 to 100
  bool is_best = false;     ///< better than every one before it
};

/// How a model was trained; empty when its folder does not say.
struct TrainingCurve {
  std::vector<TrainingPoint> train;
  std::vector<ValidationPoint> validation;
};

/// The JSON of GET /v1/model: name, architecture, numbers of parameters by part, search defaults, training curve.
/// Of a long curve 400 points are kept, evenly, the first and the last among them.
///   {"name": "quickstart", "config": {...}, "parameters": {"total": 878592, "parts": [{"path": "embedding", ...}]},
///    "search": {"beam_size": 4, ...}, "training": {"train": [...], "validation": [...]}}
std::string model_card(const std::string& name, const decoding::Translator& translator, const TrainingCurve& curve);

}  // namespace dragoman::serving
