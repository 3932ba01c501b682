#pragma once

#include <string>
#include <vector>

#include "serving/routes/asked_translation.h"

namespace dragoman::serving {

/// What the fields of POST /v2/translate ask for, checked.
struct DeeplRequest {
  std::vector<TextPlan> plans;
  std::vector<int64_t> characters;  ///< of each text
  std::shared_ptr<const ServedModels> models;
  const ServedModel* model = nullptr;  ///< null when source and target are one language
  std::string source;                  ///< upper case, as the answer has it
  bool show_billed_characters = false;
  std::string model_type;            ///< as the answer has it; empty = not asked for
  std::string tag_handling_version;  ///< the same
};

/// Reads and checks the fields. What would change the translation and cannot be done is refused, not passed over:
/// glossaries, styles, translation memories, instructions, formality more and less.
/// Throws HttpError(400): "Parameter 'text' not specified.", "Value for 'target_lang' not supported.", and the like.
DeeplRequest deepl_request(const RequestFields& fields, ServingContext& context);

/// The key of "Authorization: DeepL-Auth-Key KEY"; empty if there is none.
std::string deepl_key(const Request& request);

}  // namespace dragoman::serving
