#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// A text of a request of OpenAI's interface as it was sent: a text, or token ids.
struct SentText {
  std::string text = {};
  std::vector<int32_t> ids = {};
  bool has_ids = false;

  /// Returns the number of characters. A token id counts as one.
  [[nodiscard]] size_t characters() const;
};

/// How errors call the field of the texts, and several texts.
struct SentTextNames {
  const char* field;   ///< "prompt"
  const char* plural;  ///< "prompts"
};

/// Reads a text, a list of texts, a list of token ids, or a list of such lists. Ids are not negative; check_ids
/// compares them with a model. Throws: OpenAiError(400) with the field: "prompt has 200 prompts, at most 128 are taken;
/// send several requests",
///         "prompt is 5, must be a text, a list of texts, a list of token ids, or a list of such lists", "prompt has
///         6000 characters, at most 5000 are taken; ...".
[[nodiscard]] std::vector<SentText> sent_texts(const nlohmann::json& value, const SentTextNames& names,
                                               const TextLimits& limits);

/// Throws: OpenAiError(400): "prompt has the token id 300, the largest of the model is 257".
void check_ids(const SentText& text, const char* field, int64_t vocab_size);

}  // namespace dragoman::serving
