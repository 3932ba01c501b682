#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serving/http/http_message.h"
#include "serving/routes/sent_texts.h"
#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// Limits of one request to an encoder, beside TextLimits.
inline constexpr int64_t kMostCandidates = 1'000;      ///< in `top` of POST /v1/fill-mask
inline constexpr int64_t kUsualCandidates = 5;         ///< `top` if it is not given
inline constexpr size_t kMostCandidatesTold = 10'000;  ///< of all masks of a request together
inline constexpr size_t kMostMasks = 64;               ///< in one text

/// What is done with a text that is longer than the model takes.
enum class LongTexts {
  kRefused,
  kCut,  ///< it loses its end
};

/// A checked request to an encoder, without what only the model knows.
struct EncoderRequest {
  std::string model = {};                 ///< empty = not given
  std::vector<SentText> texts = {};       ///< one or more
  std::vector<std::string> seconds = {};  ///< the second text of each pair; empty = there are no pairs
  LongTexts long_texts = LongTexts::kRefused;
  bool in_base64 = false;                  ///< vectors are told in base64
  std::optional<int64_t> dimensions = {};  ///< of the vectors, as demanded
  std::optional<int64_t> top = {};         ///< how many labels or candidates are told; none = all labels

  /// Returns the number of characters of all texts. A token id counts as one.
  [[nodiscard]] int64_t characters() const;
};

/// Read the bodies of POST /v1/embeddings, /v1/classify, /v1/tag and /v1/fill-mask, which are JSON whatever their types
/// say. A field that is null counts as missing; `user` is ignored, and all unknown fields are refused by name.
/// Throws: OpenAiError(400) with the field: "input is missing; give a text or a list of texts", "input has an empty
///         text", "encoding_format is unknown, must be float or base64", and as sent_texts. HttpError(400): "Invalid
///         JSON format".
[[nodiscard]] EncoderRequest embeddings_request(const Request& request, const TextLimits& limits);
[[nodiscard]] EncoderRequest classify_request(const Request& request, const TextLimits& limits);
[[nodiscard]] EncoderRequest tag_request(const Request& request, const TextLimits& limits);
[[nodiscard]] EncoderRequest fill_mask_request(const Request& request, const TextLimits& limits);

}  // namespace dragoman::serving
