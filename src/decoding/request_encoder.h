#pragma once

#include <string>
#include <vector>

#include "data/vocabulary.h"
#include "decoding/translation_request.h"

namespace dragoman::decoding {

/// A part of a line: one sentence to search.
struct EncodedPart {
  std::vector<int32_t> source;            ///< ids with the end
  SentenceRequest request;                ///< what it asks for
  std::vector<std::string> phrase_texts;  ///< of request.phrases
};

/// A line as searches want it.
struct EncodedLine {
  std::vector<EncodedPart> parts;     ///< none for a blank line, several for one too long for the model
  size_t tokens = 0;                  ///< of the whole line, the end counted
  std::vector<std::string> warnings;  ///< what cannot be done as asked
};

/// Cuts a request into pieces. Of a line cut in parts, the first takes prefix and phrases, and each the terms it holds.
/// A phrase with characters that the vocabulary lacks is left out with a warning.
EncodedLine encode_request(const TranslationRequest& request, const data::Vocabulary& source,
                           const data::Vocabulary& target, size_t max_tokens);

/// Tells `on_token` of the pieces given to it, for SentenceRequest::on_ids.
std::function<bool(std::span<const int32_t>)> token_stream(std::function<bool(const StreamedToken&)> on_token,
                                                           const data::Vocabulary& target);

}  // namespace dragoman::decoding
