#pragma once

#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/line_stream.h"

namespace dragoman::decoding {

/// A part of a line: one sentence to search.
struct EncodedPart {
  std::string text;                       ///< what request.source was cut from
  SentenceRequest request;                ///< its ids and what it asks for
  std::vector<std::string> phrase_texts;  ///< of request.phrases
};

/// A line as searches want it.
struct EncodedLine {
  std::vector<EncodedPart> parts;      ///< none for a blank line, several for one too long for the model
  size_t tokens = 0;                   ///< of the whole line, the end counted
  std::vector<std::string> warnings;   ///< what cannot be done as asked
  std::shared_ptr<LineStream> stream;  ///< of the request's on_token; null without
};

/// Cuts a request into pieces. Of a line cut in parts, the first takes prefix and phrases, and each the terms it holds.
/// A phrase with characters that the vocabulary lacks is left out with a warning.
EncodedLine encode_request(const TranslationRequest& request, const data::Vocabulary& source,
                           const data::Vocabulary& target, size_t max_tokens);

}  // namespace dragoman::decoding
