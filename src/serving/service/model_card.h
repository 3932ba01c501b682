#pragma once

#include <string>

#include "decoding/generator.h"
#include "decoding/text_labeler.h"
#include "decoding/translator.h"
#include "serving/service/training_record.h"

namespace dragoman::serving {

/// Returns the JSON of GET /v1/model: name, configuration, number of parameters by module, search defaults and training
/// curves, and sentences to try the model with. A curve has at most 400 points, evenly chosen, with the first and the
/// last one.
///   {"name": "quickstart", "config": {...}, "parameters": {"total": 878592, "parts": [{"path": "embedding", ...}]},
///    "search": {"beam_size": 4, ...}, "training": {"train": [...], "validation": [...]}, "examples": ["..."]}
/// @param record  what its training left
[[nodiscard]] std::string model_card(const std::string& name, const decoding::Translator& translator,
                                     const TrainingRecord& record);

/// Returns the same for a language model, without `shortlist` and `search`: requests name their own options.
[[nodiscard]] std::string model_card(const std::string& name, const decoding::Generator& generator,
                                     const TrainingRecord& record);

/// Returns the same for an encoder, with the labels of its head: "labels": ["day", "night"].
[[nodiscard]] std::string model_card(const std::string& name, const decoding::TextLabeler& encoder,
                                     const TrainingRecord& record);

}  // namespace dragoman::serving
