#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decoding/terms.h"
#include "serving/http/request_fields.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {

/// The answer of a server that was started without a folder for glossaries.
inline constexpr const char* kNoGlossaries =
    "Glossary not found: this server keeps no glossaries; start it with --glossaries DIR";

/// Returns the owner under which a request keeps its glossaries: the SHA-256 of its key, or an empty text if the server
/// needs no keys.
[[nodiscard]] std::string glossary_owner(const ServingContext& context, const Request& request);

/// Returns the language pairs that a glossary may have: those of the served models, as glossary_language names them.
[[nodiscard]] std::vector<models::LanguagePair> glossary_pairs(const ServedModels& models);

/// Returns the terms that the fields `glossary_id` and `glossary_ids` of a translation name. Null if they name none.
/// Requires: the languages of `fields` are checked.
/// Throws: HttpError(400): "Use of a glossary requires the source_lang parameter to be specified".
///         HttpError(404): "Glossary not found", or "Dictionary not found" if a glossary lacks the language pair.
[[nodiscard]] std::shared_ptr<const decoding::TermTable> asked_terms(const RequestFields& fields,
                                                                     const ServingContext& context,
                                                                     const std::string& owner);

}  // namespace dragoman::serving
