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
  bool show_billed_characters = false;
  std::string model_type;            ///< as in the answer; empty = not requested
  std::string tag_handling_version;  ///< as in the answer; empty = not requested
};

/// Reads and checks the fields. Fields that would change the translation and are not supported are refused, not
/// ignored: glossaries, styles, translation memories, instructions, formality more and less.
/// Throws: HttpError(400): "Parameter 'text' not specified.", "Value for 'target_lang' not supported.".
[[nodiscard]] DeeplRequest deepl_request(const RequestFields& fields, ServingContext& context);

/// Returns the key of "Authorization: DeepL-Auth-Key KEY". Empty if there is none.
[[nodiscard]] std::string deepl_key(const Request& request);

}  // namespace dragoman::serving
