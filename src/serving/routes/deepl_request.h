#pragma once

#include <string>
#include <vector>

#include "serving/routes/asked_translation.h"

namespace dragoman::serving {

/// A checked request of POST /v2/translate.
struct DeeplRequest {
  /// What the answer says about a text.
  struct Source {
    std::string language;    ///< in upper case
    int64_t characters = 0;  ///< number of characters
  };
  std::vector<TextToTranslate> texts;
  std::vector<Source> sources;  ///< of each text
  std::shared_ptr<const ServedModels> models;
  std::shared_ptr<const decoding::TermTable> terms = {};  ///< of the glossaries; null = none
  bool show_billed_characters = false;
  std::string model_type;            ///< as in the answer; empty = not requested
  std::string tag_handling_version;  ///< as in the answer; empty = not requested
};

/// Reads and checks the fields. Fields that would change the translation and are not supported are refused, not
/// ignored: styles, translation memories, instructions, formality more and less.
/// Throws: HttpError(400): "Parameter 'text' not specified.", "Value for 'target_lang' not supported.", and what
///         xml_lexemes says of XML that is not well-formed.
/// @param fields  those of `from`
[[nodiscard]] DeeplRequest deepl_request(const Request& from, const RequestFields& fields, ServingContext& context);

}  // namespace dragoman::serving
