#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/encoder_input.h"
#include "serving/routes/encoder_request.h"
#include "serving/service/served_models.h"

namespace dragoman::serving {

/// A word of a text, and where it stands.
struct PlacedWord {
  std::string word;
  size_t begin = 0;  ///< the number of characters of the text before it
  size_t end = 0;    ///< and behind its last one
};

/// Returns the words of a text, which white space separates, line by line. @return  of each line with words
[[nodiscard]] std::vector<std::vector<PlacedWord>> placed_words(std::string_view text);

/// A request with what the encoder reads for it.
struct EncoderReading {
  EncoderRequest asked;
  std::shared_ptr<const ServedModels> models;
  const ServedEncoder* model = nullptr;  ///< one of `models`
  std::vector<data::EncoderInput> inputs = {};
  std::vector<size_t> text_of = {};                 ///< of each input the number of its text; they do not fall
  std::vector<std::vector<PlacedWord>> words = {};  ///< of a request for tags: those of each text

  /// Returns the number of tokens that the encoder reads.
  [[nodiscard]] size_t tokens() const;
};

/// Make the inputs of all texts: one input for each text or pair; the words of each line, in as many inputs as they
/// need; a text with the rows of its masks.
/// Throws: OpenAiError(400) with the field: "input: the text has 600 tokens, the model takes 512; ..." with the code
///         context_length_exceeded, "input has the token id 300, ...", "input: text 2 has no [MASK]; ...".
void read_whole_texts(EncoderReading& reading);
void read_words(EncoderReading& reading);
void read_masked_texts(EncoderReading& reading);

}  // namespace dragoman::serving
