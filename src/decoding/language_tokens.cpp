#include "decoding/language_tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest_name.h"
#include "data/vocabulary/piece_list.h"

namespace dragoman::decoding {
namespace {

using models::ModelLanguage;

// A side of a model, in the words of messages.
struct Side {
  const char* name;  // "source"
  const char* verb;  // "read"
  const std::vector<ModelLanguage>& languages;
};

std::string near_languages(const std::string& asked, const std::vector<ModelLanguage>& languages) {
  constexpr size_t kMost = 8;
  std::vector<std::string> names = models::codes_of(languages);
  for (const ModelLanguage& language : languages) {
    if (!language.own.empty()) {
      names.push_back(language.own);
    }
  }
  const std::vector<std::string> near = base::near_names(asked, names, kMost);
  return near.empty() ? "" : fmt::format("; near: {}", fmt::join(near, ", "));
}

// Null for a model that does not say its languages.
const ModelLanguage* chosen(const std::string& asked, const Side& side) {
  if (side.languages.empty()) {
    base::check_usage(asked.empty(), "{} language is \"{}\"; the model does not say its languages, leave it out",
                      side.name, asked);
    return nullptr;
  }
  if (asked.empty()) {
    base::check_usage(side.languages.size() == 1, "{} language: the model {}s {} languages; name one: --{}-language {}",
                      side.name, side.verb, side.languages.size(), side.name, side.languages.front().code);
    return &side.languages.front();
  }
  const ModelLanguage* const found = models::find_language(asked, side.languages);
  base::check_usage(found != nullptr,
                    "{} language is \"{}\", which the model does not {}{}; \"dragoman inspect\" lists all", side.name,
                    asked, side.verb, near_languages(asked, side.languages));
  return found;
}

std::optional<int32_t> token_of(const ModelLanguage* language, const data::Vocabulary& vocabulary) {
  return language == nullptr || language->own.empty()
             ? std::nullopt
             : std::optional(vocabulary.id(data::language_piece(language->own)));
}

}  // namespace

ChosenLanguages choose_languages(const models::ModelLanguages& languages, const models::LanguagePair& asked,
                                 const data::VocabularyPair& pieces) {
  const ModelLanguage* const source = chosen(asked.source, {"source", "read", languages.sources});
  const ModelLanguage* const target = chosen(asked.target, {"target", "write", languages.targets});
  if (source == nullptr || target == nullptr) {
    return {};
  }
  base::check_usage(source->code != target->code, "source and target language are both {}", source->code);
  return {{source->code, target->code}, {token_of(source, pieces.source), token_of(target, pieces.target)}};
}

std::vector<int32_t> encode_source(const data::Vocabulary& vocabulary, std::string_view text,
                                   const LanguageTokens& languages) {
  std::vector<int32_t> ids = data::encode_source(vocabulary, text);
  if (languages.source && !ids.empty()) {
    ids.insert(ids.begin(), *languages.source);
  }
  return ids;
}

std::optional<int32_t> first_written(const LanguageTokens& languages, const data::Vocabulary& target) {
  const int32_t first = languages.target.value_or(target.frame().first);
  return first < 0 ? std::nullopt : std::optional(first);
}

void set_first(const LanguageTokens& languages, const data::Vocabulary& target, SentenceRequest& request) {
  if (const std::optional<int32_t> first = first_written(languages, target)) {
    request.prefix = {*first};
    request.unscored = 1;
  }
}

void check_language_pieces(const models::ModelLanguages& languages, const data::VocabularyPair& pieces,
                           std::string_view file_name) {
  const auto check = [&](const std::vector<ModelLanguage>& side, const data::Vocabulary& vocabulary) {
    for (const ModelLanguage& language : side) {
      const std::optional<int32_t> id = token_of(&language, vocabulary);
      base::check_data(!id || *id != vocabulary.special().unk,
                       "{}: the vocabulary has no {}; the files are of different models", file_name,
                       data::language_piece(language.own));
    }
  };
  check(languages.sources, pieces.source);
  check(languages.targets, pieces.target);
}

}  // namespace dragoman::decoding
