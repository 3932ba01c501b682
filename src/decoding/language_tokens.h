#pragma once

#include <cstdint>
#include <optional>

#include "data/vocabulary/vocabulary.h"
#include "decoding/search/sentence_request.h"
#include "models/languages.h"

namespace dragoman::decoding {

/// The codes of two languages as ids, for a model of several languages; none for a model of one pair.
struct LanguageTokens {
  std::optional<int32_t> source = {};  ///< stands before the source
  std::optional<int32_t> target = {};  ///< the translation is made to begin with it; its log-probability counts 0
  bool operator==(const LanguageTokens&) const = default;
};

/// A pair of a model, and its tokens.
struct ChosenLanguages {
  models::LanguagePair pair;  ///< common codes; empty if the model does not say its languages
  LanguageTokens tokens;
};

/// Finds the languages that a caller asks for among those of a model. A code that is not given is the only one of its
/// side. @param asked  codes as models::find_language takes them, or empty
/// Throws: Error(kUsage): `target language is "fp", which the model does not write; near: fr, fy; "dragoman inspect"
///         lists all`, "target language: the model writes 100 languages; name one", "source and target language are
///         both en", "source language is \"en\"; the model does not say its languages, leave it out".
[[nodiscard]] ChosenLanguages choose_languages(const models::ModelLanguages& languages,
                                               const models::LanguagePair& asked, const data::VocabularyPair& pieces);

/// Returns the input of the encoder for one line: data::encode_source behind the code of its language. A blank line
/// gives an empty result.
[[nodiscard]] std::vector<int32_t> encode_source(const data::Vocabulary& vocabulary, std::string_view text,
                                                 const LanguageTokens& languages);

/// Returns the id that what is written is made to begin with: the code of its language, or the first id of the frame of
/// the vocabulary; none in most models.
[[nodiscard]] std::optional<int32_t> first_written(const LanguageTokens& languages, const data::Vocabulary& target);

/// Makes a translation begin with `first_written`, which counts nothing in its score, as in `generate` of transformers
/// with forced_bos_token_id. Requires: `request` has no prefix yet.
void set_first(const LanguageTokens& languages, const data::Vocabulary& target, SentenceRequest& request);

/// Throws: Error(kBadData) if a code is no piece of the vocabulary: "m/languages.json: the vocabulary has no >>xx<<;
/// ...".
void check_language_pieces(const models::ModelLanguages& languages, const data::VocabularyPair& pieces,
                           std::string_view file_name);

}  // namespace dragoman::decoding
