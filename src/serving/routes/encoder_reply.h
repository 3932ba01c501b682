#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "serving/http/http_message.h"
#include "serving/routes/encoder_inputs.h"

namespace dragoman::serving {

/// Return what is told of one input, from what the encoder computed for it: the vector as numbers or in base64, the
/// labels with their probabilities, the tags of its words, the candidates for each of its masks.
/// Threads: several inputs of one request may be told at a time.
[[nodiscard]] nlohmann::json told_vector(const EncoderReading& reading, size_t input, std::span<const float> vector);
[[nodiscard]] nlohmann::json told_classes(const EncoderReading& reading, size_t input, std::span<const float> logits);
[[nodiscard]] nlohmann::json told_tags(const EncoderReading& reading, size_t input, std::span<const float> logits);
[[nodiscard]] nlohmann::json told_masks(const EncoderReading& reading, size_t input, std::span<const float> logits);

/// Returns the whole answer.
/// @param object  what an item is called: "embedding";  @param told  of each input
[[nodiscard]] Reply encoder_reply(const EncoderReading& reading, const char* object, std::vector<nlohmann::json> told);

}  // namespace dragoman::serving
